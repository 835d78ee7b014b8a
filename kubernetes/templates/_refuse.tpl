{{/* What would fail at night fails here, where the schema cannot see it. */}}
{{- define "retention.refuse" -}}
{{- if not .Values.policies -}}
{{- fail "policies: name at least one index, for example --set 'policies[0].entityType=dataset,policies[0].aspect=operation,policies[0].retentionDays=90'" -}}
{{- end -}}
{{- $url := .Values.server.url -}}
{{- if regexMatch "/operations/?([?#].*)?$" $url -}}
{{- fail (printf "server.url: %s is the address of an operation; leave out /operations and what follows it" $url) -}}
{{- end -}}
{{- /* SERVICE, SERVICE.NAMESPACE, and what begins with SERVICE.NAMESPACE.svc are names inside the cluster. */ -}}
{{- $host := regexReplaceAll ":[0-9]*$" (urlParse $url).host "" -}}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.extraEgress) (not (regexMatch "^[a-z0-9-]+(\\.[a-z0-9-]+(\\.svc(\\..+)?)?)?$" $host)) -}}
{{- fail (printf "networkPolicy: %s leaves the cluster, where gmsPodLabels select nothing; allow it in networkPolicy.extraEgress, for example [{ ports: [{ port: 443, protocol: TCP }] }]" $host) -}}
{{- end -}}
{{- /* Only where Helm itself finds the zones of this machine. */ -}}
{{- $zone := .Values.timeZone -}}
{{- if and (eq (dateInZone "MST" now "Asia/Tokyo") "JST") (eq (dateInZone "MST" now $zone) "UTC") (not (regexMatch "^(Etc/)?(UTC|UCT|Universal|Zulu)$" $zone)) -}}
{{- fail (printf "timeZone: %s is not the name of a time zone; Europe/Berlin and Etc/UTC are" $zone) -}}
{{- end -}}
{{- if not (hasPrefix "@" .Values.schedule) -}}
{{- $fields := splitList " " .Values.schedule -}}
{{- $kinds := list (list "minute" "[0-5]?[0-9]") (list "hour" "([01]?[0-9]|2[0-3])") (list "day of the month" "(0?[1-9]|[12][0-9]|3[01])") (list "month" "(0?[1-9]|1[0-2]|[A-Za-z]{3})") (list "day of the week" "([0-6]|[A-Za-z]{3})") -}}
{{- range $at, $kind := $kinds -}}
{{- $one := index $kind 1 -}}
{{- $part := printf "(\\*|\\?|%s(-%s)?)(/[1-9][0-9]*)?" $one $one -}}
{{- if not (regexMatch (printf "^%s(,%s)*$" $part $part) (index $fields $at)) -}}
{{- fail (printf "schedule: %q in %q is no %s" (index $fields $at) $.Values.schedule (index $kind 0)) -}}
{{- end -}}
{{- end -}}
{{- if regexMatch "^(3[01]([,-]3[01])? (2|FEB|feb)|31 (4|6|9|11|APR|JUN|SEP|NOV|apr|jun|sep|nov)) [*?]$" (join " " (slice $fields 2)) -}}
{{- fail (printf "schedule: %q names a day that its month never has" .Values.schedule) -}}
{{- end -}}
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
{{- end -}}
{{- end -}}
