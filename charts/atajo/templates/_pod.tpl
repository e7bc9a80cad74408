{{/*
What every pod has. Each template takes a part of the chart:

  root, name    the chart's context, and the component
  settings      the component whose values have the pod's settings; `name` by default
  user          number of the user that the pod runs as
*/}}

{{/*
The settings of a pod, as YAML. A component's own replace those of all pods; labels, annotations and
the service account with its annotations are merged key by key. An account that a component names
exists, unless the component says that it is created.
*/}}
{{- define "atajo.podSettings" -}}
{{- $account := dict "create" false "annotations" dict -}}
{{- $merged := dict "labels" (deepCopy .root.Values.commonLabels) "annotations" dict "serviceAccount" $account -}}
{{- range list .root.Values.pod (index .root.Values (.settings | default .name)).pod -}}
{{- range $key, $value := . -}}
{{- if has $key (list "labels" "annotations") -}}
{{- range $name, $entry := $value -}}
{{- $_ := set (index $merged $key) $name $entry -}}
{{- end -}}
{{- else if eq $key "serviceAccount" -}}
{{- $exists := and $value.name (not (hasKey $value "create")) -}}
{{- $annotations := merge (dict) ($value.annotations | default dict) $account.annotations -}}
{{- range $name, $entry := $value -}}
{{- $_ := set $account $name $entry -}}
{{- end -}}
{{- $_ := set $account "annotations" $annotations -}}
{{- if $exists -}}
{{- $_ := set $account "create" false -}}
{{- end -}}
{{- else -}}
{{- $_ := set $merged $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ toYaml $merged }}
{{- end }}

{{/* Metadata of the pods of a workload. With `unversioned`, an upgrade does not replace them. */}}
{{- define "atajo.podMetadata" -}}
{{- $pod := include "atajo.podSettings" . | fromYaml -}}
labels:
  {{- if .unversioned }}
  {{- include "atajo.selector" . | nindent 2 }}
  {{- with $pod.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- else }}
  {{- include "atajo.labels" (merge (dict "labels" $pod.labels) .) | nindent 2 }}
  {{- end }}
{{- with $pod.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The specification of a pod without containers and volumes. It passes the `restricted` standard. */}}
{{- define "atajo.podSpec" -}}
{{- $part := . -}}
{{- $pod := include "atajo.podSettings" . | fromYaml -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with include "atajo.serviceAccountName" . }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .user }}
  fsGroup: {{ .user }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with $pod.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with index $pod $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with $pod.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  {{- $selector := dict "matchLabels" (include "atajo.selector" $part | fromYaml) }}
  - {{ hasKey . "labelSelector" | ternary . (merge (dict "labelSelector" $selector) .) | toYaml | nindent 4 | trim }}
  {{- end }}
{{- end }}
{{- end }}

{{/* The name of a pod's service account; nothing means the namespace's default. */}}
{{- define "atajo.serviceAccountName" -}}
{{- $account := (include "atajo.podSettings" . | fromYaml).serviceAccount -}}
{{ $account.name | default (ternary (printf "%s-%s" .root.Release.Name .name) "" $account.create) }}
{{- end }}

{{/* What every container has besides its image and program. */}}
{{- define "atajo.container" -}}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- with (include "atajo.podSettings" . | fromYaml).extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The pod's `volumes`, a list, and those of its settings. */}}
{{- define "atajo.volumes" -}}
{{- with concat (.volumes | default list) ((include "atajo.podSettings" . | fromYaml).extraVolumes | default list) -}}
volumes:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The container's `volumeMounts`, a list, and those of its settings. */}}
{{- define "atajo.volumeMounts" -}}
{{- with concat (.volumeMounts | default list) ((include "atajo.podSettings" . | fromYaml).extraVolumeMounts | default list) -}}
volumeMounts:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
