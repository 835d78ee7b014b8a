import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AwsCaller } from './aws.ts';

export interface Redrives {
  /** For `AWS_ENDPOINT_URL_SFN`. */
  url: string;
  /** What goes on in the place of the executions that were redriven. */
  executions: string[];
  close(): Promise<void>;
}

/**
 * The emulator has no RedriveExecution. This answers it as Step Functions documents it: a failed execution goes on at the
 * state that failed, with the input that this state had; here as an execution of the same workflow that begins there.
 */
export async function startRedrives(aws: AwsCaller): Promise<Redrives> {
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

  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', async () => {
      const answer = (status: number, body: object) =>
        outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
      if (incoming.headers['x-amz-target'] !== 'AWSStepFunctions.RedriveExecution') {
        answer(400, { __type: 'UnknownOperationException' });
        return;
      }
      const { executionArn } = JSON.parse(Buffer.concat(chunks).toString());
      await redrive(executionArn).then(
        (done) => answer(200, done),
        (error: Error) => answer(400, { __type: 'ExecutionNotRedrivable', message: error.message }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    executions,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
