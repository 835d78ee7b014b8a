// Written by npm run schemas from the fields' own descriptions.

/** The retention of one time series index. An unknown field is refused at synth. */
export interface RetentionPolicy {
  /** The entity type of the index, such as dataset; any case. */
  readonly entityType: string;
  /** The time series aspect, such as operation; any case. */
  readonly aspect: string;
  /**
   * false: the index is listed and left alone.
   * @default true
   */
  readonly enabled?: boolean;
  /** Days, at least the stage’s minRetentionDays. Rows with an older timestamp are deleted. From 7 to 5000. */
  readonly retentionDays: number;
  /**
   * The threshold: the index is truncated when at least this share of its rows would be deleted.
   * @default 10
   */
  readonly minDeletePercent?: number;
  /**
   * The ceiling: above it nothing is deleted until someone approves it; 100 allows a truncation that leaves no row.
   * @default - only a truncation that would leave no row is blocked
   */
  readonly maxDeletePercent?: number;
  /**
   * The tolerance: rows newer than the cutoff that may be gone after a truncation without quarantining the index, as a
   * share of them. DataHub deletes an entity’s rows with the entity, so ten rows are always tolerated, except with 0:
   * then one entity that is deleted during a truncation is act now, and a quarantine.
   * @default 2
   */
  readonly maxMissingPercent?: number;
  /**
   * true: nothing is sent to a server that announces a reindex instead of a delete in place.
   * @default false
   */
  readonly refuseReindex?: boolean;
  /**
   * Rows per batch; passed on to DataHub unchanged. From 1 to 10000.
   * @default 10000
   */
  readonly batchSize?: number;
  /**
   * How long each batch waits for unavailable shards; it does not bound the task.
   * @default - not sent
   */
  readonly timeoutSeconds?: number;
  /**
   * The row limit: the most rows that one run may delete, the oldest first; later runs go on with the rest. A reindex
   * is never split.
   * @default - the stage’s maxRowsPerRun
   */
  readonly maxRowsPerRun?: number;
  /**
   * Whom to ask about this index; shown in messages, not interpreted.
   * @default - none
   */
  readonly owner?: string;
  /**
   * Why this policy is as it is; shown in messages, not interpreted.
   * @default - none
   */
  readonly note?: string;
}

/** The settings of one stage: what a stage file holds, but for resources. */
export interface StageProps {
  /**
   * The name of the stage, at most 20 lower-case letters, digits and hyphens; part of resource names. One stage for
   * each server.
   */
  readonly stage: string;
  /** The GMS address with its prefix: https://host/api/gms, https://host/gms or http://host:8080. */
  readonly gmsUrl: string;
  /** One policy for each index, at most 48. */
  readonly policies: RetentionPolicy[];
  /**
   * What scheduled runs do: preview only reports, enforce truncates for real.
   * @default 'preview'
   */
  readonly mode?: 'preview' | 'enforce';
  /**
   * When runs start, as an expression of EventBridge Scheduler.
   * @default 'cron(30 3 * * ? *)'
   */
  readonly schedule?: string;
  /**
   * The IANA name of the time zone that the schedule is in; it follows daylight saving.
   * @default 'UTC'
   */
  readonly timeZone?: string;
  /**
   * Who gets the report by mail. AWS asks each address to confirm.
   * @default - nobody
   */
  readonly emails?: string[];
  /**
   * The Slack workspace, authorized once in Amazon Q Developer; with slackChannelId.
   * @default - none
   */
  readonly slackWorkspaceId?: string;
  /**
   * The Slack channel; with slackWorkspaceId.
   * @default - none
   */
  readonly slackChannelId?: string;
  /**
   * The Teams tenant; with the next two.
   * @default - none
   */
  readonly teamsTenantId?: string;
  /**
   * The team.
   * @default - none
   */
  readonly teamsTeamId?: string;
  /**
   * The channel, as in its link.
   * @default - none
   */
  readonly teamsChannelId?: string;
  /**
   * What mail subscribers of the topic get, as docs/messages.md lists it.
   * @default 'mail'
   */
  readonly emailFormat?: 'slack' | 'teams' | 'json' | 'mail' | 'amazon-q';
  /**
   * What HTTPS subscribers get; slackChannelId and teamsChannelId need amazon-q.
   * @default 'amazon-q'
   */
  readonly httpsFormat?: 'slack' | 'teams' | 'json' | 'mail' | 'amazon-q';
  /**
   * What SQS, Lambda, Firehose and others get; SMS gets the subject.
   * @default 'json'
   */
  readonly queueFormat?: 'slack' | 'teams' | 'json' | 'mail' | 'amazon-q';
  /**
   * A parameter that holds the certificates (PEM) of the authority that signed GMS's certificate.
   * @default - public authorities
   */
  readonly caCertificateParameter?: string;
  /**
   * Where Parameter Store holds policies, token and pause switch.
   * @default - /datahub-retention/<stage>
   */
  readonly parameterPrefix?: string;
  /**
   * The parameter (SecureString) that holds the access token.
   * @default - <parameterPrefix>/token
   */
  readonly tokenParameter?: string;
  /**
   * A parameter (SecureString) with headers for a gateway, one Name: value a line.
   * @default - none
   */
  readonly headersParameter?: string;
  /**
   * A parameter with a client certificate (PEM) for a gateway; with the next.
   * @default - none
   */
  readonly clientCertificateParameter?: string;
  /**
   * A parameter (SecureString) with its key (PEM, no password).
   * @default - none
   */
  readonly clientKeyParameter?: string;
  /**
   * Sends no token, to a DataHub that asks for none.
   * @default false
   */
  readonly noIdentity?: boolean;
  /**
   * Where docs/runbook.md can be opened from a phone, without an anchor: alarms and messages link to it.
   * @default - they link to the stage’s dashboard, which has the most urgent sections
   */
  readonly runbookUrl?: string;
  /**
   * problems sends nothing after a run in which nothing was lost, nothing may be lost, and nobody has to act.
   * @default 'always'
   */
  readonly notify?: 'always' | 'problems';
  /**
   * Days; no policy may keep fewer. From 1 to 5000.
   * @default 7
   */
  readonly minRetentionDays?: number;
  /**
   * The row limit of policies without a maxRowsPerRun of their own.
   * @default - none
   */
  readonly maxRowsPerRun?: number;
  /**
   * Hours after which a run sends nothing more and reports. From 1 to 24.
   * @default 12
   */
  readonly maxRunHours?: number;
  /**
   * Hours without a scheduled start after which the alarm fires; CloudWatch looks back at most seven days. From 1 to
   * 168.
   * @default 26
   */
  readonly alarmIfNotStartedHours?: number;
  /**
   * false: no alarms. Then nobody hears of a run that did not start or report.
   * @default true
   */
  readonly alarms?: boolean;
  /**
   * false: no dashboard.
   * @default true
   */
  readonly dashboard?: boolean;
  /**
   * The lowest level of the lines in the logs of the functions.
   * @default 'INFO'
   */
  readonly logLevel?: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
}
