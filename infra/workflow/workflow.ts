import { Fn, RemovalPolicy, Stack, Tokenization } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { FunctionName } from '../../lambda/aws/environment.ts';
import type { Settings } from '../../lambda/settings/settings.ts';
import definition from '../../lambda/workflow/retention-workflow.asl.json' with { type: 'json' };
import { jobVersion } from '../../version.ts';
import { RetentionFunction } from '../functions/retention-function.ts';
import { throughService } from '../props/encryption.ts';
import { keepIfEnforcing } from '../props/removal.ts';
import type { Resources } from '../props/resources.ts';
import { jobName, parameterArn, stateMachineArn } from './names.ts';

export interface WorkflowProps {
  settings: Settings;
  resources: Resources;
  /** The ledger. */
  table: Table;
  topic: ITopic;
  /** Undefined if there is no dashboard. */
  dashboardUrl: string | undefined;
}

/**
 * The four functions and the state machine that calls them: `lambda/workflow/`, which the command line executes as well.
 */
export class Workflow extends Construct {
  /** Each has the id that the workflow file's substitutions name: Plan, Truncate, Poll and Report. */
  readonly functions: readonly RetentionFunction<FunctionName>[];
  readonly stateMachine: StateMachine;
  /** Of the state machine. */
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, { settings, resources, table, topic, dashboardUrl }: WorkflowProps) {
    super(scope, id);
    const stack = Stack.of(this);
    const pausedParameter = `${settings.parameterPrefix}/paused`;
    const policiesPath = `${settings.parameterPrefix}/policies`;
    const stage = {
      STAGE: settings.stage,
      GMS_URL: settings.gmsUrl,
      MODE: settings.mode,
      MIN_RETENTION_DAYS: digits(settings.minRetentionDays),
      MAX_RUN_HOURS: digits(settings.maxRunHours),
      POWERTOOLS_LOG_LEVEL: settings.logLevel,
    };
    const access = {
      LEDGER_TABLE: table.tableName,
      TOKEN_PARAMETER: settings.noIdentity ? undefined : settings.tokenParameter,
      NO_IDENTITY: settings.noIdentity ? ('true' as const) : undefined,
      HEADERS_PARAMETER: settings.headersParameter,
      CLIENT_CERTIFICATE_PARAMETER: settings.clientCertificateParameter,
      CLIENT_KEY_PARAMETER: settings.clientKeyParameter,
      CA_CERTIFICATE_PARAMETER: settings.caCertificateParameter,
    };
    const parameters = {
      PAUSED_PARAMETER: pausedParameter,
      POLICIES_PATH: policiesPath,
      MAX_ROWS_PER_RUN: settings.maxRowsPerRun === undefined ? undefined : digits(settings.maxRowsPerRun),
    };
    const readSettings = [
      allow('ReadPolicies', ['ssm:GetParametersByPath'], parameterArn(stack, policiesPath)),
      ...readParameters(stack, settings, resources, pausedParameter),
    ];
    const { network, encryptionKey, tokenKey } = resources;
    /** Report is outside any VPC: a report must get out even if nothing else does. */
    const inside = { settings, network, encryptionKey };
    const useLedger = (...more: string[]) => [
      allow('UseLedger', ['dynamodb:GetItem', 'dynamodb:PutItem', ...more], table.tableArn),
      ...(encryptionKey ? [throughService('UseLedgerKey', encryptionKey, 'dynamodb', tableKeyActions)] : []),
    ];

    const plan = new RetentionFunction(this, 'Plan', {
      ...inside,
      name: 'plan',
      description: 'Dry-runs every policy and decides',
      environment: { ...stage, ...access, ...parameters },
      permissions: [...readSettings, ...useLedger('dynamodb:Query')],
    });
    const truncate = new RetentionFunction(this, 'Truncate', {
      ...inside,
      name: 'truncate',
      description: 'Starts one approved truncation',
      environment: { ...stage, ...access, ...parameters },
      permissions: [
        // Just before it sends, it rereads the policies, which someone may have made stricter since Plan.
        ...readSettings,
        ...useLedger(),
      ],
    });
    const poll = new RetentionFunction(this, 'Poll', {
      ...inside,
      name: 'poll',
      description: 'Checks every unresolved truncation and verifies those that have ended',
      environment: { ...stage, ...access },
      permissions: [...readParameters(stack, settings, resources), ...useLedger()],
    });
    const report = new RetentionFunction(this, 'Report', {
      name: 'report',
      settings,
      description: 'Publishes the run report',
      environment: {
        ...stage,
        JOB_VERSION: jobVersion(),
        TOPIC_ARN: topic.topicArn,
        NOTIFY: settings.notify,
        EMAIL_FORMAT: settings.emailFormat,
        HTTPS_FORMAT: settings.httpsFormat,
        QUEUE_FORMAT: settings.queueFormat,
        STATE_MACHINE_ARN: stateMachineArn(stack, () => this.stateMachine),
        DASHBOARD_URL: dashboardUrl,
        RUNBOOK_URL: settings.runbookUrl,
        PARAMETER_PREFIX: settings.parameterPrefix,
        TOKEN_PARAMETER: settings.tokenParameter,
        TOKEN_KEY_ARN: tokenKey?.keyArn,
      },
      permissions: [
        allow('PublishReport', ['sns:GetTopicAttributes', 'sns:Publish'], topic.topicArn),
        // SNS encrypts what is published to an encrypted topic with the publisher's permissions.
        ...(topic.masterKey
          ? [throughService('EncryptReport', topic.masterKey, 'sns', ['GenerateDataKey', 'Decrypt'])]
          : []),
      ],
      encryptionKey,
    });
    this.functions = [plan, truncate, poll, report];
    this.logGroup = this.executionLog(settings, encryptionKey);
    this.stateMachine = this.createStateMachine(settings.stage);
  }

  private createStateMachine(stage: string): StateMachine {
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('states.amazonaws.com') });
    const arns = this.functions.map(({ lambda }) => lambda.functionArn);
    role.addToPolicy(allow('CallFunctions', ['lambda:InvokeFunction'], ...arns));
    return new StateMachine(this, 'StateMachine', {
      stateMachineName: jobName(stage),
      definitionBody: DefinitionBody.fromString(JSON.stringify(definition)),
      definitionSubstitutions: Object.fromEntries(
        this.functions.map(({ node, lambda }) => [`${node.id}FunctionArn`, lambda.functionArn]),
      ),
      role,
      logs: { destination: this.logGroup, level: LogLevel.ALL, includeExecutionData: false },
      tracingEnabled: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  /**
   * Below /aws/vendedlogs, so that many log groups do not use up the account's log resource policy; with a part of the
   * stack's id in its name, so that it never clashes with the leftovers of an earlier stack.
   */
  private executionLog(settings: Settings, encryptionKey: IKey | undefined): LogGroup {
    const stackId = Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Stack.of(this).stackId))));
    const logGroup = new LogGroup(this, 'Log', {
      logGroupName: `/aws/vendedlogs/states/datahub-retention-${settings.stage}-${stackId}`,
      retention: RetentionDays.THREE_MONTHS,
      ...(encryptionKey && { encryptionKey }),
    });
    keepIfEnforcing(logGroup, settings);
    return logGroup;
  }
}

/** What DynamoDB does with a table's key on behalf of a reader and writer. */
const tableKeyActions = ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo'];

/** A number as the text that it has, or will have at deployment: a token, printed as it is, would be another number. */
const digits = (value: number): string => String(Tokenization.stringifyNumber(value));

const allow = (sid: string, actions: string[], ...resources: string[]): PolicyStatement =>
  new PolicyStatement({ sid, actions, resources });

/** Permission to read the identity and other parameters that a function reads individually, by their names. */
function readParameters(
  stack: Stack,
  settings: Settings,
  { tokenKey }: Resources,
  pausedParameter?: string,
): PolicyStatement[] {
  const arnsOf = (...names: Array<string | undefined>) =>
    names.filter((name) => name !== undefined).map((name) => parameterArn(stack, name));
  const token = settings.noIdentity ? undefined : settings.tokenParameter;
  const { headersParameter, clientCertificateParameter, clientKeyParameter } = settings;
  const secrets = arnsOf(token, headersParameter, clientCertificateParameter, clientKeyParameter);
  const arns = [...secrets, ...arnsOf(pausedParameter, settings.caCertificateParameter)];
  const statements = arns.length === 0 ? [] : [allow('ReadParameters', ['ssm:GetParameter'], ...arns)];
  if (tokenKey !== undefined && secrets.length > 0) {
    statements.push(
      new PolicyStatement({
        sid: 'DecryptToken',
        actions: ['kms:Decrypt'],
        resources: [tokenKey.keyArn],
        // Parameter Store encrypts with the parameter's ARN as context: the key opens these parameters and nothing else.
        conditions: {
          StringEquals: { 'kms:EncryptionContext:PARAMETER_ARN': secrets.length === 1 ? secrets[0] : secrets },
        },
      }),
    );
  }
  return statements;
}
