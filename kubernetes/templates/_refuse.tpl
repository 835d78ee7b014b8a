{{/*
Refuses what would otherwise fail at night, or when it is applied, and what the schema cannot see. Mistakes within a
policy are left to helm test, which runs the job's own check.
*/}}
{{- define "retention.refuse" -}}
{{- if not .Values.policies -}}
{{- fail "policies: name at least one index, for example --set 'policies[0].entityType=dataset,policies[0].aspect=operation,policies[0].retentionDays=90'" -}}
{{- end -}}
{{- $url := .Values.server.url -}}
{{- with regexFind "(?i)(/api)?(/v[0-9]+)?/(operations|aspects|entities|entitiesV2|usageStats|graphql|graphiql|swagger-ui|health|config|openapi(/.*)?)/?$" $url -}}
{{- fail (printf "server.url: %s is the address of one of DataHub's APIs; leave out %s (DataHub's frontend has GMS at /api/gms)" $url .) -}}
{{- end -}}
{{- if and .Values.server.noIdentity (or .Values.token.volume .Values.token.file) -}}
{{- fail "server.noIdentity sends no token, and token.volume or token.file has one: remove one of them" -}}
{{- end -}}
{{- if and .Values.server.tlsSecret (not (hasPrefix "https://" (lower $url))) -}}
{{- fail "server.tlsSecret needs a server.url with https://: only TLS shows a certificate" -}}
{{- end -}}
{{- /* SERVICE, SERVICE.NAMESPACE, and what begins with SERVICE.NAMESPACE.svc are names inside the cluster. */ -}}
{{- $host := regexReplaceAll ":[0-9]*$" (urlParse $url).host "" -}}
{{- if regexMatch "^(?i)(localhost|.*\\.localhost|127\\..*|0\\.0\\.0\\.0|\\[::1?\\])\\.?$" $host -}}
{{- fail (printf "server.url: %s is the pod itself; write the service of GMS, as in http://datahub-datahub-gms.datahub.svc:8080" $host) -}}
{{- end -}}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.extraEgress) (not (regexMatch "^[a-z0-9-]+(\\.[a-z0-9-]+(\\.svc(\\..+)?)?)?$" $host)) -}}
{{- fail (printf "networkPolicy: %s leaves the cluster, where gmsPodLabels select nothing; allow it in networkPolicy.extraEgress, for example [{ ports: [{ port: 443, protocol: TCP }] }]" $host) -}}
{{- end -}}
{{- range $at, $policy := .Values.policies -}}
{{- if lt (int $policy.retentionDays) (int $.Values.minRetentionDays) -}}
{{- fail (printf "policies: policy %d keeps %d days, and minRetentionDays is %d" (add1 $at) (int $policy.retentionDays) (int $.Values.minRetentionDays)) -}}
{{- end -}}
{{- end -}}
{{- include "retention.refuseSchedule" .Values.schedule -}}
{{- $resources := default dict .Values.resources -}}
{{- with (default dict $resources.limits).memory -}}
{{- if lt (include "retention.amount" . | float64) 67108864.0 -}}
{{- fail (printf "resources.limits.memory: %v is not enough to start; it needs 64Mi at least (a number without a unit is bytes)" .) -}}
{{- end -}}
{{- end -}}
{{- range $name, $requested := default dict $resources.requests -}}
{{- $limit := get (default dict $resources.limits) $name -}}
{{- if and $limit $requested (gt (include "retention.amount" $requested | float64) (include "retention.amount" $limit | float64)) -}}
{{- fail (printf "resources: the request of %s (%v) is above its limit (%v)" $name $requested $limit) -}}
{{- end -}}
{{- end -}}
{{- range .Values.extraEnvs -}}
{{- if regexMatch "^DATAHUB_(GMS|RETENTION)_" .name -}}
{{- fail (printf "extraEnvs: %s is the chart's own; other values set it" .name) -}}
{{- end -}}
{{- end -}}
{{- if and (eq (default "" .Values.dnsPolicy) "None") (not (default dict .Values.dnsConfig).nameservers) -}}
{{- fail "dnsPolicy: None needs dnsConfig.nameservers" -}}
{{- end -}}
{{- range $name, $context := dict "podSecurityContext" .Values.podSecurityContext "securityContext" .Values.securityContext -}}
{{- if and (default dict $.Values.podSecurityContext).runAsNonRoot (eq (get (default dict $context) "runAsUser" | toString) "0") -}}
{{- fail (printf "%s.runAsUser: 0 is root, and runAsNonRoot keeps the pod from starting" $name) -}}
{{- end -}}
{{- end -}}
{{- /* The API, Helm 4 or the kubelet would refuse the same name twice. */ -}}
{{- $pod := include "retention.pod" (dict "root" . "verb" "preview" "byHand" true) | fromYaml -}}
{{- $container := first $pod.containers -}}
{{- $volumes := list -}}
{{- range $pod.volumes -}}
{{- $volumes = append $volumes .name -}}
{{- end -}}
{{- $paths := list -}}
{{- range $container.volumeMounts -}}
{{- $paths = append $paths .mountPath -}}
{{- if not (has .name $volumes) -}}
{{- fail (printf "extraVolumeMounts: there is no volume %s in extraVolumes" .name) -}}
{{- end -}}
{{- end -}}
{{- $variables := list -}}
{{- range $container.env -}}
{{- $variables = append $variables .name -}}
{{- end -}}
{{- range $value, $all := dict "extraVolumes" $volumes "extraVolumeMounts" $paths "extraEnvs" $variables -}}
{{- range uniq $all -}}
{{- $rest := without $all . -}}
{{- if gt (sub (len $all) (len $rest)) 1 -}}
{{- fail (printf "%s: %s appears twice" $value .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- /* Where a tool renders without the cluster, its API refuses what is different. */ -}}
{{- with lookup "v1" "ConfigMap" .Release.Namespace (include "retention.ledgerPlace" .) -}}
{{- $before := keys .data | first | replace "claim." "the claim " -}}
{{- $after := include "retention.ledger" $ | replace "claim." "the claim " -}}
{{- if ne $before $after -}}
{{- fail (printf "ledger: the records of this release are in %s, and with these values a run would look in %s and find none. Change ledger.existingClaim back, or follow 'The ledger' in docs/kubernetes.md and then: kubectl -n %s delete configmap %s" $before $after $.Release.Namespace .metadata.name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* As the controller of CronJobs reads its fields; it also accepts what never comes, as 31 2 does. */}}
{{- define "retention.refuseSchedule" -}}
{{- $given := splitList " " (regexReplaceAll "\\s+" (lower . | trim) " ") -}}
{{- if not (has . (list "@hourly" "@daily" "@midnight" "@weekly" "@monthly" "@yearly" "@annually")) -}}
{{- if ne (len $given) 5 -}}
{{- fail (printf "schedule: %q is not a cron expression with five fields (minute, hour, day of the month, month, day of the week), such as 30 3 * * *; timeZone says in which time zone" .) -}}
{{- end -}}
{{- $months := dict "jan" 1 "feb" 2 "mar" 3 "apr" 4 "may" 5 "jun" 6 "jul" 7 "aug" 8 "sep" 9 "oct" 10 "nov" 11 "dec" 12 -}}
{{- $days := dict "sun" 0 "mon" 1 "tue" 2 "wed" 3 "thu" 4 "fri" 5 "sat" 6 -}}
{{- $month := printf "0?[1-9]|1[0-2]|%s" (keys $months | join "|") -}}
{{- $day := printf "[0-6]|%s" (keys $days | join "|") -}}
{{- $patterns := list "[0-5]?[0-9]" "[01]?[0-9]|2[0-3]" "0?[1-9]|[12][0-9]|3[01]" $month $day -}}
{{- range $at, $what := list "minute" "hour" "day of the month" "month" "day of the week" -}}
{{- $field := index $given $at -}}
{{- $pattern := index $patterns $at -}}
{{- $item := printf "([*?]|(%s)(-(%s))?)(/[1-9][0-9]*)?" $pattern $pattern -}}
{{- if not (regexMatch (printf "^%s(,%s)*$" $item $item) $field) -}}
{{- fail (printf "schedule: %q cannot be the %s, field %d of 5" $field $what (add1 $at)) -}}
{{- end -}}
{{- range $range := regexFindAll "[a-z0-9]+-[a-z0-9]+" $field -1 -}}
{{- $ends := list -}}
{{- range splitList "-" $range -}}
{{- $ends = append $ends (int (default (trimPrefix "0" .) (get (merge (dict) $months $days) . | toString))) -}}
{{- end -}}
{{- if gt (first $ends) (last $ends) -}}
{{- fail (printf "schedule: the range %s counts backwards; name its parts, as in 5,6,0 for the days from Friday to Sunday" $range) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
