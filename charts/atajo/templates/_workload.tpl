{{/*
A component: its workload, Service, disruption budget and autoscaler. Takes

  root, name    the chart's context, and the component, whose values have the same name
  kind          Deployment or StatefulSet
  image, user   key of the image among the values, and the number of its user
  command       of the container; none takes the image's
  ports         number by name
  headless      whether callers spread over the pods themselves
  env           settings by name; the component's own `env` goes before
  secrets       files by setting: {secret, key}
  extraEnv      list of further environment variables
  volumes       list; mounts: path by volume's name
  probes        {live, ready}: handlers
  claims        of a StatefulSet
*/}}
{{- define "atajo.workload" -}}
{{- $values := index .root.Values .name -}}
{{- $scaled := gt (int $values.maxReplicas) (int $values.replicas) -}}
{{- $volumes := .volumes | default list -}}
{{- $mounts := list -}}
{{- range $volume, $path := .mounts -}}
{{- $mounts = append $mounts (dict "name" $volume "mountPath" $path) -}}
{{- end -}}
{{- with .secrets -}}
{{- $sources := list -}}
{{- range $name, $file := . -}}
{{- $items := list (dict "key" $file.key "path" $name) -}}
{{- $sources = append $sources (dict "secret" (dict "name" $file.secret "items" $items)) -}}
{{- end -}}
{{- $volumes = append $volumes (dict "name" "secrets" "projected" (dict "sources" $sources)) -}}
{{- $mounts = append $mounts (dict "name" "secrets" "mountPath" "/run/secrets/atajo" "readOnly" true) -}}
{{- end -}}
apiVersion: apps/v1
kind: {{ .kind }}
metadata:
  {{- include "atajo.metadata" . | nindent 2 }}
spec:
  {{- if not $scaled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  {{- if eq .kind "StatefulSet" }}
  serviceName: {{ .root.Release.Name }}-{{ .name }}
  podManagementPolicy: Parallel
  {{- else }}
  strategy:
    rollingUpdate: {maxUnavailable: 0, maxSurge: 1}
  {{- end }}
  selector:
    matchLabels:
      {{- include "atajo.selector" . | nindent 6 }}
  template:
    metadata:
      {{- include "atajo.podMetadata" . | nindent 6 }}
    spec:
      {{- include "atajo.podSpec" . | nindent 6 }}
      terminationGracePeriodSeconds: {{ include "atajo.graceSeconds" .root }}
      containers:
        - name: {{ .name }}
          image: {{ include "atajo.image" . }}
          {{- with .command }}
          command: {{ toJson . }}
          {{- end }}
          {{- include "atajo.container" . | nindent 10 }}
          env:
            {{- range $name, $value := merge (dict) $values.env .env }}
            - {name: {{ $name }}, value: {{ $value | quote }}}
            {{- end }}
            {{- range $name, $_ := .secrets }}
            - {name: {{ $name }}_FILE, value: /run/secrets/atajo/{{ $name }}}
            {{- end }}
            {{- with .extraEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            {{- range $name, $port := .ports }}
            - {name: {{ $name }}, containerPort: {{ $port }}}
            {{- end }}
          # The other two probes wait until this one succeeds.
          startupProbe:
            {{- toYaml .probes.live | nindent 12 }}
            periodSeconds: 1
            timeoutSeconds: 2
            failureThreshold: 120
          livenessProbe:
            {{- toYaml .probes.live | nindent 12 }}
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 3
          readinessProbe:
            {{- toYaml .probes.ready | nindent 12 }}
            periodSeconds: 3
            timeoutSeconds: 3
            failureThreshold: 2
          lifecycle:
            preStop:
              sleep: {seconds: {{ .root.Values.termination.leaveSeconds }}}
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          {{- with include "atajo.volumeMounts" (merge (dict "volumeMounts" $mounts) .) }}
          {{- . | nindent 10 }}
          {{- end }}
      {{- with include "atajo.volumes" (merge (dict "volumes" $volumes) .) }}
      {{- . | nindent 6 }}
      {{- end }}
  {{- with .claims }}
  volumeClaimTemplates:
    {{- toYaml . | nindent 4 }}
  {{- end }}
---
apiVersion: v1
kind: Service
metadata:
  {{- include "atajo.metadata" (merge (dict "annotations" ($values.service | default dict).annotations) .) | nindent 2 }}
spec:
  {{- if .headless }}
  clusterIP: None
  # Callers find out which pod answers. If names disappeared while MongoDB is down, callers would
  # resolve them too late afterwards.
  publishNotReadyAddresses: true
  {{- end }}
  {{- with $values.service }}
  type: {{ .type }}
  {{- if eq .type "LoadBalancer" }}
  # Preserves the client's address.
  externalTrafficPolicy: Local
  {{- end }}
  {{- end }}
  selector:
    {{- include "atajo.selector" . | nindent 4 }}
  ports:
    {{- range $name, $port := .ports }}
    - name: {{ $name }}
      targetPort: {{ $name }}
      {{- if and $values.service (eq $name "http") }}
      port: {{ $values.service.port }}
      {{- with $values.service.nodePort }}
      nodePort: {{ . }}
      {{- end }}
      {{- else }}
      port: {{ $port }}
      {{- end }}
      {{- if has $name (list "grpc" "admin") }}
      appProtocol: kubernetes.io/h2c
      {{- end }}
    {{- end }}
{{- if gt (int $values.replicas) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "atajo.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "atajo.selector" . | nindent 6 }}
{{- end }}
{{- if $scaled }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "atajo.metadata" . | nindent 2 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: {{ .kind }}
    name: {{ .root.Release.Name }}-{{ .name }}
  minReplicas: {{ $values.replicas }}
  maxReplicas: {{ $values.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: 70}
{{- end }}
{{- end }}

{{/* Leaving, draining, and ten seconds to write down and close. */}}
{{- define "atajo.graceSeconds" -}}
{{ add .Values.termination.leaveSeconds .Values.termination.drainSeconds 10 }}
{{- end }}

{{/* Settings of every Python process. */}}
{{- define "atajo.processEnv" -}}
ATAJO_LOG_LEVEL: {{ .Values.logLevel }}
ATAJO_METRICS_LISTEN: 0.0.0.0:9090
ATAJO_DRAIN_SECONDS: {{ .Values.termination.drainSeconds | quote }}
{{- end }}
