{{- define "retention.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* A CronJob's name has at most 52 characters, and "-manual" takes seven of them. */}}
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
{{- with omit .Values.commonLabels "helm.sh/chart" "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/version" "app.kubernetes.io/managed-by" }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "retention.annotations" -}}
{{- with .Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* One DataHub has one ledger, whatever the release is called: helm refuses another release's claim. */}}
{{- define "retention.claim" -}}
{{- $name := regexReplaceAll "[^a-z0-9]+" (lower .Values.server.name) "-" | trimAll "-" -}}
{{- default (printf "datahub-retention-%s-ledger" $name) .Values.ledger.existingClaim -}}
{{- end -}}

{{- define "retention.image" -}}
{{- $registry := dig "imageRegistry" "" (default dict .Values.global) -}}
{{- $repository := ternary .Values.image.repository (printf "%s/%s" $registry .Values.image.repository) (empty $registry) -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* What would fail at night fails here: the schema cannot compare two values. */}}
{{- define "retention.refuse" -}}
{{- if not .Values.policies -}}
{{- fail "policies: name at least one index, for example --set 'policies[0].entityType=dataset,policies[0].aspect=operation,policies[0].retentionDays=90'" -}}
{{- end -}}
{{- if regexMatch "/operations/?([?#].*)?$" .Values.server.url -}}
{{- fail (printf "server.url: %s is the address of an operation; leave out /operations and what follows it" .Values.server.url) -}}
{{- end -}}
{{- $seen := dict -}}
{{- range $at, $policy := .Values.policies -}}
{{- $name := printf "%s.%s" $policy.entityType $policy.aspect -}}
{{- $index := printf "%s_%s" $policy.entityType $policy.aspect | lower -}}
{{- if hasKey $seen $index -}}
{{- fail (printf "policies[%d]: %s has a second policy (the first is policies[%d]): keep one of them" $at $name (int (get $seen $index))) -}}
{{- end -}}
{{- $_ := set $seen $index $at -}}
{{- if eq (lower $policy.aspect) "datahubingestioncheckpoint" -}}
{{- fail (printf "policies[%d]: %s is the state of stateful ingestion, not history: no retention may delete it" $at $name) -}}
{{- end -}}
{{- $least := 10.0 -}}
{{- if hasKey $policy "minDeletePercent" -}}{{- $least = float64 $policy.minDeletePercent -}}{{- end -}}
{{- if and (hasKey $policy "maxDeletePercent") (gt $least (float64 (default 0 $policy.maxDeletePercent))) -}}
{{- fail (printf "policies[%d]: %s has minDeletePercent (%v) above maxDeletePercent (%v): nothing would ever be deleted" $at $name $least $policy.maxDeletePercent) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "retention.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "retention.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/*
The Job of one run: both CronJobs have the same, but for the verb, and for what happens when its node goes. Call it with
(dict "root" $ "verb" VERB "byHand" BOOLEAN).
*/}}
{{- define "retention.job" -}}
{{- with .root.Values -}}
# An exit status of 1 is a result for a person to read, not a reason to retry.
backoffLimit: 0
{{- if not $.byHand }}
# A drained node is no result: the run is started again, and picks up what goes on. One by hand is not repeated.
podFailurePolicy:
  rules:
    - action: Ignore
      onPodConditions:
        - { type: DisruptionTarget, status: "True" }
{{- end }}
# 13 hours: a run sends and watches for 12 at most and then reports.
activeDeadlineSeconds: 46800
template:
  metadata:
    labels:
      {{- merge (fromYaml (include "retention.labels" $.root)) .podLabels | toYaml | nindent 6 }}
    annotations:
      # A policy that has changed is in the next run in any case; this only shows which run had which.
      checksum/policies: {{ toJson .policies | sha256sum }}
      {{- with merge (dict) .podAnnotations .commonAnnotations }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
  spec:
    {{- include "retention.pod" $ | nindent 4 }}
{{- end -}}
{{- end -}}

{{/* The pod of one run; "verb" is its first argument. */}}
{{- define "retention.pod" -}}
{{- $fullname := include "retention.fullname" .root -}}
{{- with .root.Values -}}
restartPolicy: Never
serviceAccountName: {{ include "retention.serviceAccount" $.root }}
# The job does not use the cluster's API.
automountServiceAccountToken: false
{{- with concat .imagePullSecrets (dig "imagePullSecrets" list (default dict .global)) }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: datahub-retention
    image: {{ include "retention.image" $.root | quote }}
    imagePullPolicy: {{ .image.pullPolicy }}
    # DATAHUB_RETENTION_ARGS replaces them in a run by hand; an image that ignores the variable runs these.
    args:
      - {{ $.verb }}
      {{- if eq $.verb "enforce" }}
      - --yes
      {{- end }}
      {{- if eq $.verb "validate" }}
      - --policies=/policies/policies.json
      {{- else if ne $.verb "survey" }}
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
      - name: DATAHUB_RETENTION_POLICIES
        value: /policies/policies.json
      # Messages print commands that start a run by hand from the suspended twin of this CronJob.
      - name: DATAHUB_RETENTION_CRON_JOB
        value: {{ $fullname | quote }}
      - name: DATAHUB_RETENTION_NAMESPACE
        value: {{ $.root.Release.Namespace | quote }}
      - name: DATAHUB_RETENTION_TOKEN_SECRET
        value: {{ printf "%s/%s" .token.secretRef .token.secretKey | quote }}
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
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- with .securityContext }}
    securityContext:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .resources }}
    resources:
      {{- toYaml . | nindent 6 }}
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
      claimName: {{ include "retention.claim" $.root }}
  {{- if .metrics.enabled }}
  - name: metrics
    {{- default (dict "emptyDir" (dict)) .metrics.volume | toYaml | nindent 4 }}
  {{- end }}
  {{- if .server.caConfigMap }}
  - name: ca
    configMap:
      name: {{ .server.caConfigMap }}
      # A key that is not there keeps the pod from starting, and its events say which.
      items:
        - { key: {{ .server.caKey | quote }}, path: {{ .server.caKey | quote }} }
  {{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
{{- end -}}
