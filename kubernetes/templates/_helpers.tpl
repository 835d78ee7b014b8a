{{- define "retention.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* A CronJob's name has at most 52 characters, and "-preview" takes eight of them. */}}
{{- define "retention.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 44 | trimSuffix "-" -}}
{{- else if contains (include "retention.name" .) .Release.Name -}}
{{- .Release.Name | trunc 44 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "retention.name" .) | trunc 44 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "retention.selectorLabels" -}}
app.kubernetes.io/name: {{ include "retention.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "retention.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "retention.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "retention.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "retention.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The Job of one run: both CronJobs have the same, but for the verb. Call it with (dict "root" $ "verb" VERB). */}}
{{- define "retention.job" -}}
{{- $fullname := include "retention.fullname" .root -}}
{{- with .root.Values -}}
# An exit status of 1 is a result for a person to read, not a reason to retry.
backoffLimit: 0
# 13 hours: a run sends and watches for 12 at most and then reports.
activeDeadlineSeconds: 46800
template:
  metadata:
    labels:
      {{- include "retention.selectorLabels" $.root | nindent 6 }}
      {{- with .podLabels }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    annotations:
      # A policy that has changed is in the next run in any case; this only shows which run had which.
      checksum/policies: {{ toJson .policies | sha256sum }}
      {{- with .podAnnotations }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
  spec:
    restartPolicy: Never
    serviceAccountName: {{ include "retention.serviceAccount" $.root }}
    # The job does not use the cluster's API.
    automountServiceAccountToken: false
    {{- with .imagePullSecrets }}
    imagePullSecrets:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    securityContext:
      runAsNonRoot: true
      runAsUser: 65532
      runAsGroup: 65532
      # Lets the job write its ledger.
      fsGroup: 65532
      fsGroupChangePolicy: OnRootMismatch
      seccompProfile:
        type: RuntimeDefault
    containers:
      - name: datahub-retention
        image: {{ printf "%s:%s" .image.repository (default $.root.Chart.AppVersion .image.tag) | quote }}
        imagePullPolicy: {{ .image.pullPolicy }}
        # DATAHUB_RETENTION_ARGS replaces them in a run by hand; an image that ignores the variable runs these.
        args:
          - {{ $.verb }}
          - --policies=/policies/policies.json
          {{- if eq .failOn "failed" }}
          - --fail-on=failed
          {{- end }}
          {{- if and .notification.secretRef (ne .notification.when "always") }}
          - --notify={{ .notification.when }}
          {{- end }}
          {{- if and .notification.secretRef (ne .notification.format "slack") }}
          - --notify-format={{ .notification.format }}
          {{- end }}
          {{- if and .metrics.enabled (eq $.verb $.root.Values.mode) }}
          - --metrics-file=/metrics/{{ $fullname }}.prom
          {{- end }}
        env:
          # What every run needs is here and not in the arguments, so that a run by hand has it, too.
          - name: DATAHUB_GMS_URL
            value: {{ .server.url | quote }}
          - name: DATAHUB_GMS_TOKEN
            valueFrom:
              secretKeyRef:
                name: {{ .token.secretRef }}
                key: {{ .token.secretKey }}
          - name: DATAHUB_RETENTION_NAME
            value: {{ .server.name | quote }}
          # The ledger is the folder datahub-retention/ledger below this one.
          - name: XDG_STATE_HOME
            value: /ledger
          # Messages print commands that start a run by hand from the suspended twin of this CronJob.
          - name: DATAHUB_RETENTION_CRON_JOB
            value: {{ $fullname | quote }}
          - name: DATAHUB_RETENTION_NAMESPACE
            value: {{ $.root.Release.Namespace | quote }}
          {{- with .notification }}
          {{- if .secretRef }}
          - name: DATAHUB_RETENTION_NOTIFY_URL
            valueFrom:
              secretKeyRef:
                name: {{ .secretRef }}
                key: {{ .secretKey }}
          {{- end }}
          {{- end }}
          {{- if .server.caConfigMap }}
          - name: NODE_EXTRA_CA_CERTS
            value: /ca/{{ .server.caKey }}
          {{- end }}
          {{- with .extraEnvs }}
          {{- toYaml . | nindent 10 }}
          {{- end }}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities:
            drop: [ALL]
        {{- with .resources }}
        resources:
          {{- toYaml . | nindent 10 }}
        {{- end }}
        volumeMounts:
          - { name: policies, mountPath: /policies, readOnly: true }
          - { name: ledger, mountPath: /ledger }
          {{- if .metrics.enabled }}
          - { name: metrics, mountPath: /metrics }
          {{- end }}
          {{- if .server.caConfigMap }}
          - { name: ca, mountPath: /ca, readOnly: true }
          {{- end }}
    volumes:
      - name: policies
        configMap:
          name: {{ $fullname }}-policies
      - name: ledger
        persistentVolumeClaim:
          claimName: {{ default (printf "%s-ledger" $fullname) .ledger.existingClaim }}
      {{- if .metrics.enabled }}
      - name: metrics
        {{- toYaml .metrics.volume | nindent 8 }}
      {{- end }}
      {{- if .server.caConfigMap }}
      - name: ca
        configMap:
          name: {{ .server.caConfigMap }}
      {{- end }}
    {{- with .nodeSelector }}
    nodeSelector:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .tolerations }}
    tolerations:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .affinity }}
    affinity:
      {{- toYaml . | nindent 6 }}
    {{- end }}
{{- end -}}
{{- end -}}
