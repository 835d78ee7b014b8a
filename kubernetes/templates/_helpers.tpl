{{- define "retention.name" -}}
{{- /* A parent chart may give it another name (alias), with letters that Kubernetes' names do not have. */ -}}
{{- default (.Chart.Name | lower | replace "_" "-") .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* A CronJob's name has at most 52 characters, and "-manual" takes seven of them. The name of a release may have dots. */}}
{{- define "retention.fullname" -}}
{{- $name := include "retention.name" . -}}
{{- $own := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $own .Values.fullnameOverride | trunc 44 | trimAll "-." -}}
{{- end -}}

{{- define "retention.selectorLabels" -}}
app.kubernetes.io/name: {{ include "retention.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* Of an object: the chart's own, then "labels" of this kind of objects, then those of all. */}}
{{- define "retention.labels" -}}
{{- $own := fromYaml (include "retention.selectorLabels" .root) -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimAll "-_.") -}}
{{- $_ := set $own "app.kubernetes.io/version" .root.Chart.AppVersion -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- merge $own (default dict .labels) (default dict .root.Values.commonLabels) | toYaml -}}
{{- end -}}

{{/*
Of every object; call it with (dict "root" $) and "suffix" or "name", more "labels" and "annotations". The namespace is
written out: kubectl refuses to apply to another what "helm template" has rendered for this one.
*/}}
{{- define "retention.metadata" -}}
name: {{ default (printf "%s%s" (include "retention.fullname" .root) (default "" .suffix)) .name | quote }}
namespace: {{ .root.Release.Namespace | quote }}
labels:
  {{- include "retention.labels" . | nindent 2 }}
{{- with merge (dict) (default dict .annotations) (default dict .root.Values.commonAnnotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "retention.image" -}}
{{- $registry := (default dict .Values.global).imageRegistry -}}
{{- $repository := ternary .Values.image.repository (printf "%s/%s" $registry .Values.image.repository) (empty $registry) -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "retention.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "retention.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Where the ledger is; its mark (ledger.yaml) has the name of the release, which no value changes. */}}
{{- define "retention.ledger" -}}
{{- with .Values.ledger.existingClaim -}}
claim.{{ . }}
{{- else -}}
ConfigMaps
{{- end -}}
{{- end -}}

{{- define "retention.ledgerPlace" -}}
{{- printf "datahub-retention-ledger-of-%s" .Release.Name -}}
{{- end -}}

{{/* Where OpenShift assigns user and groups, without those of the image; others that the values set stay. */}}
{{- define "retention.podSecurityContext" -}}
{{- $given := default dict .Values.podSecurityContext -}}
{{- $adapt := .Values.adaptSecurityContext -}}
{{- if or (eq $adapt "force") (and (eq $adapt "auto") (.Capabilities.APIVersions.Has "security.openshift.io/v1")) -}}
{{- range $field := list "runAsUser" "runAsGroup" "fsGroup" -}}
{{- if eq (get $given $field | toString) "65532" -}}
{{- $given = omit $given $field -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $given -}}
{{- end -}}

{{/* A quantity of Kubernetes as a number. */}}
{{- define "retention.amount" -}}
{{- $unit := regexFind "[A-Za-z]*$" (toString .) -}}
{{- $factors := dict "" 1.0 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 -}}
{{- mulf (float64 (trimSuffix $unit (toString .))) (get $factors $unit) -}}
{{- end -}}
