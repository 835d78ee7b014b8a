import { createServer } from 'node:http';
import { listening, textOf } from '../support/loopback.ts';
import type { AwsCaller } from './aws.ts';

/**
 * The emulator has no RedriveExecution. This answers it as Step Functions documents it: a failed execution goes on at the
 * state that failed, with the input that this state had; here as an execution of the same workflow that begins there.
 * @returns an address for `AWS_ENDPOINT_URL_SFN`, and the executions that go on in the place of those that were redriven
 */
export async function startRedrives(aws: AwsCaller) {
  const executions: string[] = [];

  const redrive = async (executionArn: string): Promise<object> => {
    const states = (action: string, input: object) => aws.json('states', `AWSStepFunctions.${action}`, input);
    const { status, stateMachineArn } = await states('DescribeExecution', { executionArn });
    if (status !== 'FAILED') throw new Error(`ExecutionNotRedrivable: it is ${status}`);
    const { events } = await states('GetExecutionHistory', { executionArn, reverseOrder: true, maxResults: 1000 });
    const entered = events.find(({ type }: { type: string }) => type === 'TaskStateEntered').stateEnteredEventDetails;
    const { name, roleArn, ...machine } = await states('DescribeStateMachine', { stateMachineArn });
    const definition = JSON.stringify({ ...JSON.parse(machine.definition), StartAt: entered.name });
    const rest = await states('CreateStateMachine', { name: `${name}-redriven`, roleArn, definition });
    const started = await states('StartExecution', { stateMachineArn: rest.stateMachineArn, input: entered.input });
    executions.push(started.executionArn);
    return { redriveDate: Date.now() / 1000 };
  };

  const server = createServer(async (incoming, outgoing) => {
    const answer = (status: number, body: object) =>
      outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
    if (incoming.headers['x-amz-target'] !== 'AWSStepFunctions.RedriveExecution') {
      answer(400, { __type: 'UnknownOperationException' });
      return;
    }
    const { executionArn } = JSON.parse(await textOf(incoming));
    await redrive(executionArn).then(
      (done) => answer(200, done),
      (error: Error) => answer(400, { __type: 'ExecutionNotRedrivable', message: error.message }),
    );
  });
  return { ...(await listening(server)), executions };
}
