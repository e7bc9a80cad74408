{{/*
Labels of an object, or of a pod. Takes {root, name}, and `labels`, which go before commonLabels. The
schema keeps both from replacing the chart's own.
*/}}
{{- define "atajo.labels" -}}
{{ include "atajo.selector" . }}
app.kubernetes.io/part-of: atajo
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- with mergeOverwrite (deepCopy .root.Values.commonLabels) (.labels | default dict) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Labels that never change, by which a component is found. Takes {root, name}. */}}
{{- define "atajo.selector" -}}
app.kubernetes.io/name: atajo
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{/*
Metadata of an object. Takes {root, name}; `object`, its name if that is not the component's; `labels`
and `annotations`, which go before those of all objects.
*/}}
{{- define "atajo.metadata" -}}
name: {{ .object | default (printf "%s-%s" .root.Release.Name .name) }}
labels:
  {{- include "atajo.labels" . | nindent 2 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) (.annotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* An image by its key among the values. Takes {root, image}. */}}
{{- define "atajo.image" -}}
{{- $image := .root.Values.image -}}
{{ index $image .image }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- with index $image.digests .image }}@{{ . }}{{ end }}
{{- end }}

{{- define "atajo.host" -}}
{{ include "atajo.hostOf" .Values.publicUrl }}
{{- end }}

{{/* The host of an origin, without its port. */}}
{{- define "atajo.hostOf" -}}
{{ regexReplaceAll ":[0-9]+$" (urlParse .).host "" }}
{{- end }}

{{/* JSON of the hosts of the public URL and of the further domains that begin with `scheme`. Takes {root, scheme}. */}}
{{- define "atajo.hosts" -}}
{{- $hosts := list (include "atajo.host" .root) }}
{{- $scheme := .scheme }}
{{- range .root.Values.domains }}
{{- if hasPrefix $scheme . }}
{{- $hosts = append $hosts (include "atajo.hostOf" .) }}
{{- end }}
{{- end }}
{{- dict "hosts" (uniq $hosts) | toJson }}
{{- end }}
