import { RemovalPolicy } from 'aws-cdk-lib';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, JsonPath, LogLevel, StateMachine, TaskInput } from 'aws-cdk-lib/aws-stepfunctions';
import { StepFunctionsStartExecution } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { Construct } from 'constructs';
import { jobName } from './names.ts';

export interface PreviewMachineProps {
  stage: string;
  /** The job's. */
  stateMachine: StateMachine;
  logGroup: ILogGroup;
}

/** Starts a preview, whatever its own input is: who may start only this one can neither delete nor approve anything. */
export class PreviewMachine extends Construct {
  readonly stateMachine: StateMachine;

  constructor(scope: Construct, id: string, { stage, stateMachine, logGroup }: PreviewMachineProps) {
    super(scope, id);
    const start = new StepFunctionsStartExecution(this, 'Start', {
      stateMachine,
      // A person who wants to be known names the execution.
      input: TaskInput.fromObject({ mode: 'preview', by: JsonPath.executionName }),
    });
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      // No stage's name has an underscore: the stage `prod-preview` must not collide.
      stateMachineName: `${jobName(stage)}_preview`,
      definitionBody: DefinitionBody.fromChainable(start),
      logs: { destination: logGroup, level: LogLevel.ALL, includeExecutionData: false },
      tracingEnabled: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }
}

/** Lets people start executions of the first machine, and see how those of all of them went. */
export function grantStart(grantee: IGrantable, machine: StateMachine, ...others: StateMachine[]): Grant {
  const see = ['states:DescribeExecution', 'states:GetExecutionHistory'];
  const own = machine
    .grant(grantee, 'states:StartExecution', 'states:ListExecutions')
    .combine(machine.grantExecution(grantee, ...see, 'states:RedriveExecution'));
  return others.reduce(
    (all, one) => all.combine(one.grant(grantee, 'states:ListExecutions')).combine(one.grantExecution(grantee, ...see)),
    own,
  );
}
