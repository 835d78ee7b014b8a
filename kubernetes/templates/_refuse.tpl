{{/*
What would fail at night fails here, where neither the schema nor the API server (schedule, time zone) sees it. What is
wrong with a policy among others, helm test tells, with the job's own check.
*/}}
{{- define "retention.refuse" -}}
{{- if not .Values.policies -}}
{{- fail "policies: name at least one index, for example --set 'policies[0].entityType=dataset,policies[0].aspect=operation,policies[0].retentionDays=90'" -}}
{{- end -}}
{{- $url := .Values.server.url -}}
{{- if regexMatch "/operations/?([?#].*)?$" $url -}}
{{- fail (printf "server.url: %s is the address of an operation; leave out /operations and what follows it" $url) -}}
{{- end -}}
{{- if and .Values.server.noIdentity .Values.token.volume -}}
{{- fail "server.noIdentity sends no token, and token.volume has one: remove one of them" -}}
{{- end -}}
{{- if and .Values.server.tlsSecret (not (hasPrefix "https://" (lower $url))) -}}
{{- fail "server.tlsSecret needs a server.url with https://: only TLS shows a certificate" -}}
{{- end -}}
{{- /* SERVICE, SERVICE.NAMESPACE, and what begins with SERVICE.NAMESPACE.svc are names inside the cluster. */ -}}
{{- $host := regexReplaceAll ":[0-9]*$" (urlParse $url).host "" -}}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.extraEgress) (not (regexMatch "^[a-z0-9-]+(\\.[a-z0-9-]+(\\.svc(\\..+)?)?)?$" $host)) -}}
{{- fail (printf "networkPolicy: %s leaves the cluster, where gmsPodLabels select nothing; allow it in networkPolicy.extraEgress, for example [{ ports: [{ port: 443, protocol: TCP }] }]" $host) -}}
{{- end -}}
{{- end -}}
