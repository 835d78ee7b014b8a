import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Clone, cloneHere, type Ran } from '../pages/clone.ts';
import { type Command, filled, type Placeholder, root } from '../pages/commands.ts';
import { type AwsCaller, awsCaller } from './aws.ts';
import type { Emulator } from './emulator.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import { testApp, until } from './stage.ts';

/** The AWS CLI; the second major version is not on PyPI. */
export const awsCli = 'awscli==1.46.3';

export interface Message {
  subject: string;
  /** The mail, in one line. */
  text: string;
}

export interface Execution {
  executionArn: string;
  status: string;
  /** What it has sent; none if it could not. */
  message: Message | undefined;
}

/** Somebody with a clone of the project, a shell, a mailbox, and the emulator as their account. */
export interface Operator {
  clone: Clone;
  aws: AwsCaller;
  /** Where the test app's functions find GMS: no stage file may name a server on this machine. */
  gmsUrl: string;
  /** Environment of the shell, as somebody who follows the pages has set it. */
  shell: Record<string, string>;
  /** What was typed, before values were filled in. */
  typed: string[];
  /** Types a command; it has to end well. Returns what it prints. */
  type(command: Command, values?: Values, env?: Record<string, string>): Promise<string>;
  /** Types a command, however it ends. */
  tryOut(command: Command, values?: Values, env?: Record<string, string>): Promise<Ran>;
  /** Types a command of the CDK that changes the account, with the test's app and without its questions. */
  change(command: Command, values?: Values, env?: Record<string, string>): Promise<string>;
  /** Types a command that starts an execution. Returns its ARN. */
  start(command: Command): Promise<string>;
  /** Waits until an execution has ended. */
  ended(executionArn: string, patienceSeconds?: number): Promise<Execution>;
  /** Types a command that starts an execution, and waits for its end. */
  run(command: Command): Promise<Execution>;
  close(): Promise<void>;
}

type Values = Readonly<Partial<Record<Placeholder, string>>>;

export async function anOperator(emulator: Emulator): Promise<Operator> {
  const clone = cloneHere();
  // `npm ci` is test:pages' own.
  symlinkSync(join(root, 'node_modules'), clone.at('node_modules'));
  clone.shim('aws', `exec "${join(emulator.programs, 'aws')}" "$@"`);
  const aws = awsCaller(emulator.url, emulator.region);
  const sns: Recorder = await startRecorder(emulator.url);
  const messages = (): Message[] =>
    sns.forms.flatMap((form) =>
      form.get('Action') === 'Publish'
        ? { subject: form.get('Subject')!, text: JSON.parse(form.get('Message')!).email.replace(/\s+/g, ' ') }
        : [],
    );
  /** How many messages there were when an execution began. */
  const before = new Map<string, number>();

  const operator: Operator = {
    clone,
    aws,
    gmsUrl: '',
    // No configuration of whoever runs the test.
    shell: { HOME: emulator.folder, ...emulator.environment },
    typed: [],
    tryOut({ text }, values = {}, env = {}) {
      operator.typed.push(text);
      return clone.sh(filled(text, values), { ...operator.shell, ...env });
    },
    async type(command, values, env) {
      const { status, stdout, stderr } = await operator.tryOut(command, values, env);
      if (status === 0) return stdout;
      throw new Error(`${command.page}:${command.line} ${command.text}: status ${status}\n${stdout}${stderr}`);
    },
    change(command, values, env) {
      const urls = { DEPLOY_TEST_GMS_URL: operator.gmsUrl, DEPLOY_TEST_SNS_URL: sns.url };
      return operator.type(command, values, { CDK_APP: testApp, CDK_REQUIRE_APPROVAL: 'never', ...urls, ...env });
    },
    async start(command) {
      const seen = messages().length;
      const { executionArn } = JSON.parse(await operator.type(command, { ARN: operator.shell['ARN']! }));
      before.set(executionArn, seen);
      return executionArn;
    },
    async ended(executionArn, patienceSeconds = 60) {
      const status = await until(
        async () => {
          const described = await aws.json('states', 'AWSStepFunctions.DescribeExecution', { executionArn });
          return described.status === 'RUNNING' ? undefined : (described.status as string);
        },
        `${executionArn} has ended`,
        patienceSeconds,
      );
      const since = messages().slice(before.get(executionArn));
      return { executionArn, status, message: since.at(-1) };
    },
    run: async (command) => operator.ended(await operator.start(command)),
    async close() {
      await sns.close();
      clone.remove();
    },
  };
  return operator;
}
