/** What the four functions read when they are imported; nothing is called. */
export const functionEnvironment = {
  AWS_REGION: 'eu-central-1',
  STAGE: 'prod',
  GMS_URL: 'https://datahub.example.com/gms',
  MODE: 'preview',
  MIN_RETENTION_DAYS: '7',
  MAX_RUN_HOURS: '12',
  POWERTOOLS_LOG_LEVEL: 'INFO',
  LEDGER_TABLE: 'table',
  TOKEN_PARAMETER: '/token',
  POLICIES_PATH: '/policies',
  PAUSED_PARAMETER: '/paused',
  TOPIC_ARN: 'arn:aws:sns:eu-central-1:111122223333:topic',
  NOTIFY: 'always',
  STATE_MACHINE_ARN: 'arn:aws:states:eu-central-1:111122223333:stateMachine:machine',
  PARAMETER_PREFIX: '/datahub-retention/prod',
};
