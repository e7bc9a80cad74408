{{/* Labels that say what an object is. Takes {root, name}. */}}
{{- define "atajo.labels" -}}
{{ include "atajo.selector" . }}
app.kubernetes.io/part-of: atajo
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{/* Labels that never change, by which a component is found. Takes {root, name}. */}}
{{- define "atajo.selector" -}}
app.kubernetes.io/name: atajo
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{/* Takes {root, name}. */}}
{{- define "atajo.metadata" -}}
name: {{ .root.Release.Name }}-{{ .name }}
labels:
  {{- include "atajo.labels" . | nindent 2 }}
{{- end }}

{{/* An image by its key among the values. Takes {root, image}. */}}
{{- define "atajo.image" -}}
{{- $image := .root.Values.image -}}
{{ index $image .image }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- with index $image.digests .image }}@{{ . }}{{ end }}
{{- end }}

{{- define "atajo.host" -}}
{{ regexReplaceAll ":[0-9]+$" (urlParse .Values.publicUrl).host "" }}
{{- end }}
