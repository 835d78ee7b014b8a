import { Duration } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Architecture, type CfnFunction, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { EnvironmentOf, FunctionName } from '../../lambda/aws/environment.ts';
import { functionTimeoutSeconds } from '../../lambda/run/deadlines.ts';
import type { Settings } from '../../lambda/settings/settings.ts';
import { keepIfEnforcing } from '../props/removal.ts';
import { functionCode } from './function-code.ts';

export interface RetentionFunctionProps<Name extends FunctionName> {
  name: Name;
  settings: Settings;
  description: string;
  environment: EnvironmentOf<Name>;
  /** Everything the function may do besides writing its own log. */
  permissions: PolicyStatement[];
  /** A private network, if the function has to be inside one. */
  network?: { subnetIds: string[]; securityGroupIds: string[] } | undefined;
  /** For its log and its environment. */
  encryptionKey?: IKey | undefined;
}

/** One function of the workflow, with its own role and log group. */
export class RetentionFunction<Name extends FunctionName> extends Construct {
  readonly name: Name;
  readonly lambda: LambdaFunction;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: RetentionFunctionProps<Name>) {
    super(scope, id);
    this.name = props.name;
    const { network, encryptionKey } = props;
    // The saved query covers 30 days; three months leave room for late questions.
    this.logGroup = new LogGroup(this, 'Log', {
      retention: RetentionDays.THREE_MONTHS,
      ...(encryptionKey && { encryptionKey }),
    });
    keepIfEnforcing(this.logGroup, props.settings);
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(role);
    for (const permission of props.permissions) role.addToPolicy(permission);
    if (network) allowNetworkInterfaces(role);

    this.lambda = new LambdaFunction(this, 'Function', {
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: functionCode(props.name),
      // 65 MB are in use after the start; more memory buys CPU, and so a shorter start.
      memorySize: 512,
      timeout: Duration.seconds(functionTimeoutSeconds[props.name]),
      environment: withoutMissing(props.environment),
      role,
      logGroup: this.logGroup,
      tracing: Tracing.ACTIVE,
      ...(encryptionKey && { environmentEncryption: encryptionKey }),
    });
    if (network) {
      const { subnetIds, securityGroupIds } = network;
      (this.lambda.node.defaultChild as CfnFunction).vpcConfig = { subnetIds, securityGroupIds };
    }
  }
}

/** Lets Lambda attach a function to a private network with the function's role, and denies that to its code. */
function allowNetworkInterfaces(role: Role): void {
  const interfaces = {
    actions: [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:UnassignPrivateIpAddresses',
    ],
    resources: ['*'],
  };
  role.addToPolicy(new PolicyStatement({ sid: 'AttachToPrivateNetwork', ...interfaces }));
  role.addToPolicy(
    new PolicyStatement({
      sid: 'NotByTheCode',
      effect: Effect.DENY,
      ...interfaces,
      // Only requests of a function's own code have this key.
      conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
    }),
  );
}

const withoutMissing = (environment: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined));
