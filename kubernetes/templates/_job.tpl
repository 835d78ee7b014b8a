{{/*
The Job of one run, the same for both CronJobs but for the verb and for what happens when its node goes. Call it with
(dict "root" $ "verb" VERB "byHand" BOOLEAN).
*/}}
{{- define "retention.job" -}}
{{- with .root.Values -}}
{{- $labels := include "retention.labels" (dict "root" $.root "labels" .podLabels) }}
metadata:
  # The API gives a Job those of its pod only if it has none, and Kustomize adds some.
  labels:
    {{- $labels | nindent 4 }}
  {{- with .jobAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  # An exit status of 1 is a result for a person to read, not a reason to retry.
  backoffLimit: 0
  {{- if not $.byHand }}
  # A drained node is not a result: the run starts again, and picks up what is under way. A run by hand is not repeated.
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions:
          - { type: DisruptionTarget, status: "True" }
  {{- end }}
  # An hour more than a run may send and watch: it still has to report.
  activeDeadlineSeconds: {{ mul (add1 (default 12 .maxRunHours)) 3600 }}
  {{- if hasKey . "ttlSecondsAfterFinished" }}
  ttlSecondsAfterFinished: {{ .ttlSecondsAfterFinished }}
  {{- else if $.byHand }}
  # Its log is kept for a week.
  ttlSecondsAfterFinished: 604800
  {{- end }}
  template:
    metadata:
      labels:
        {{- $labels | nindent 8 }}
      annotations:
        {{- /* The next run reads a changed policy in any case; this only shows which run had which. */}}
        {{- $checksum := dict "checksum/policies" (toJson .policies | sha256sum) }}
        {{- merge $checksum (default dict .podAnnotations) (default dict .commonAnnotations) | toYaml | nindent 8 }}
    spec:
      {{- include "retention.pod" $ | nindent 6 }}
{{- end -}}
{{- end -}}

{{/* The pod of one run; "verb" is its first argument. */}}
{{- define "retention.pod" -}}
{{- $fullname := include "retention.fullname" .root -}}
{{- with .root.Values -}}
{{- $ca := .server.caVolume -}}
{{- $webhook := default (and .notification.secretRef (printf "/webhook/%s" .notification.secretKey)) .notification.file -}}
{{- if and .server.caConfigMap (not $ca) -}}
{{- $ca = dict "configMap" (dict "name" .server.caConfigMap "items" (list (dict "key" .server.caKey "path" .server.caKey))) -}}
{{- end -}}
restartPolicy: Never
serviceAccountName: {{ include "retention.serviceAccount" $.root | quote }}
# The volume below provides the token instead.
automountServiceAccountToken: false
{{- with concat (default list .imagePullSecrets) (default list (default dict .global).imagePullSecrets) }}
imagePullSecrets:
  {{- range . }}
  {{- /* Parent charts may give only names. */}}
  - {{ ternary (dict "name" .) . (kindIs "string" .) | toJson }}
  {{- end }}
{{- end }}
{{- with include "retention.podSecurityContext" $.root | fromYaml }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $field := list "priorityClassName" "runtimeClassName" "dnsPolicy" "dnsConfig" "hostAliases" "nodeSelector" "tolerations" "affinity" }}
{{- with get $.root.Values $field }}
{{ dict $field . | toYaml }}
{{- end }}
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
      {{- if and (eq .log "json") (not $.byHand) }}
      - --log=json
      {{- end }}
      {{- if and .metrics.enabled (eq $.verb $.root.Values.mode) }}
      - --metrics-file=/metrics/{{ $fullname }}.prom
      {{- end }}
      {{- if and .metrics.pushUrl (eq $.verb $.root.Values.mode) }}
      - {{ printf "--metrics-url=%s" .metrics.pushUrl | quote }}
      {{- end }}
      {{- end }}
    env:
      # What every run needs is here and not in the arguments, so that a run by hand has it, too.
      - name: DATAHUB_GMS_URL
        value: {{ .server.url | quote }}
      # They would come before the URL; what envFrom brings for other clients of DataHub may have them.
      - { name: DATAHUB_GMS_HOST, value: "" }
      - { name: DATAHUB_GMS_PORT, value: "" }
      {{- if .server.noIdentity }}
      - name: DATAHUB_RETENTION_NO_IDENTITY
        value: "true"
      {{- else }}
      # A file, because a new token is in it within a minute or two, even during a run.
      - name: DATAHUB_RETENTION_TOKEN_FILE
        value: {{ default (printf "/token/%s" .token.secretKey) .token.file | quote }}
      {{- end }}
      {{- if .server.headersSecret }}
      - name: DATAHUB_RETENTION_HEADER_FILE
        value: {{ printf "/headers/%s" .server.headersKey | quote }}
      {{- end }}
      {{- if .server.tlsSecret }}
      - name: DATAHUB_CLIENT_CERT_PATH
        value: /tls/tls.crt
      - name: DATAHUB_CLIENT_KEY_PATH
        value: /tls/tls.key
      {{- end }}
      - name: DATAHUB_RETENTION_NAME
        value: {{ .server.name | quote }}
      # A pod whose ledger would not be where the release's is does not start (ledger.yaml).
      - name: DATAHUB_RETENTION_LEDGER
        valueFrom:
          configMapKeyRef:
            name: {{ include "retention.ledgerPlace" $.root }}
            key: {{ include "retention.ledger" $.root }}
      - name: DATAHUB_RETENTION_POLICIES
        value: /policies/policies.json
      # Messages print commands that start a run by hand from the suspended twin of this CronJob.
      - name: DATAHUB_RETENTION_CRON_JOB
        value: {{ $fullname | quote }}
      - name: DATAHUB_RETENTION_NAMESPACE
        valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
      {{- range $name, $limit := dict "MIN_RETENTION_DAYS" .minRetentionDays "MAX_RUN_HOURS" .maxRunHours "MAX_ROWS_PER_RUN" .maxRowsPerRun }}
      {{- if $limit }}
      - name: DATAHUB_RETENTION_{{ $name }}
        value: {{ int64 $limit | quote }}
      {{- end }}
      {{- end }}
      {{- if not (or .token.volume .token.file .server.noIdentity) }}
      - name: DATAHUB_RETENTION_TOKEN_REF
        value: {{ printf "%s/%s" .token.secretRef .token.secretKey | quote }}
      {{- end }}
      {{- with $webhook }}
      - name: DATAHUB_RETENTION_NOTIFY_URL_FILE
        value: {{ . | quote }}
      - name: DATAHUB_RETENTION_NOTIFY
        value: {{ $.root.Values.notification.when }}
      - name: DATAHUB_RETENTION_NOTIFY_FORMAT
        value: {{ $.root.Values.notification.format }}
      {{- end }}
      {{- if $ca }}
      - name: DATAHUB_RETENTION_CA_FILE
        value: {{ printf "/ca/%s" .server.caKey | quote }}
      {{- end }}
      {{- with .extraEnvs }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- range $field := list "envFrom" "securityContext" "resources" }}
    {{- with get $.root.Values $field }}
    {{- dict $field . | toYaml | nindent 4 }}
    {{- end }}
    {{- end }}
    volumeMounts:
      - { name: policies, mountPath: /policies, readOnly: true }
      {{- if not (or .server.noIdentity (and .token.file (not .token.volume))) }}
      - { name: token, mountPath: /token, readOnly: true }
      {{- end }}
      {{- if .server.headersSecret }}
      - { name: headers, mountPath: /headers, readOnly: true }
      {{- end }}
      {{- if .server.tlsSecret }}
      - { name: tls, mountPath: /tls, readOnly: true }
      {{- end }}
      {{- if and .notification.secretRef (not .notification.file) }}
      - { name: webhook, mountPath: /webhook, readOnly: true }
      {{- end }}
      {{- if .ledger.existingClaim }}
      - { name: ledger, mountPath: /ledger }
      {{- else }}
      - { name: account, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true }
      {{- end }}
      {{- if .metrics.enabled }}
      - { name: metrics, mountPath: /metrics }
      {{- end }}
      {{- if $ca }}
      - { name: ca, mountPath: /ca, readOnly: true }
      {{- end }}
      {{- with .extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  - name: policies
    configMap:
      name: {{ $fullname }}-policies
  # A missing key keeps the pod from starting, and its events say which.
  {{- if not (or .server.noIdentity (and .token.file (not .token.volume))) }}
  - name: token
    {{- default (dict "secret" (dict "secretName" .token.secretRef "items" (list (dict "key" .token.secretKey "path" .token.secretKey)))) .token.volume | toYaml | nindent 4 }}
  {{- end }}
  {{- with .server.headersSecret }}
  - name: headers
    secret: { secretName: {{ . | quote }}, items: [{ key: {{ $.root.Values.server.headersKey | quote }}, path: {{ $.root.Values.server.headersKey | quote }} }] }
  {{- end }}
  {{- with .server.tlsSecret }}
  - name: tls
    secret: { secretName: {{ . | quote }}, items: [{ key: tls.crt, path: tls.crt }, { key: tls.key, path: tls.key }] }
  {{- end }}
  {{- with .notification }}
  {{- if and .secretRef (not .file) }}
  - name: webhook
    secret:
      secretName: {{ .secretRef | quote }}
      items: [{ key: {{ .secretKey | quote }}, path: {{ .secretKey | quote }} }]
  {{- end }}
  {{- end }}
  {{- if .ledger.existingClaim }}
  - name: ledger
    persistentVolumeClaim:
      claimName: {{ .ledger.existingClaim | quote }}
  {{- else }}
  # What Kubernetes would mount itself, but valid for an hour at a time.
  - name: account
    projected:
      sources:
        - serviceAccountToken: { path: token, expirationSeconds: 3600 }
        - configMap: { name: kube-root-ca.crt, items: [{ key: ca.crt, path: ca.crt }] }
        - downwardAPI: { items: [{ path: namespace, fieldRef: { fieldPath: metadata.namespace } }] }
  {{- end }}
  {{- if .metrics.enabled }}
  - name: metrics
    {{- default (dict "emptyDir" (dict)) .metrics.volume | toYaml | nindent 4 }}
  {{- end }}
  {{- with $ca }}
  - name: ca
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
{{- end -}}
