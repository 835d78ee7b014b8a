import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { FunctionName } from '../../lambda/aws/environment.ts';
import { functionTimeoutSeconds } from '../../lambda/run/deadlines.ts';
import { freePort, textOf } from '../support/loopback.ts';
import type { Tools } from './tools.ts';

export interface RunningFunction {
  /** What the function answers, or Lambda's error object. */
  invoke(event: unknown): Promise<{ answer: Record<string, unknown>; seconds: number }>;
  /** Everything that function and runtime have written. */
  log(): string;
  /** The most memory that its process has used, megabytes. */
  memory(): number;
  /** How long the runtime took to load it, milliseconds. */
  startMillis(): number;
  stop(): Promise<void>;
}

/** Starts a bundle as Lambda does: its time, its folder, and no environment but its own. */
export async function startFunction(
  { emulator, client, node }: Tools,
  bundles: string,
  name: FunctionName,
  environment: Record<string, string>,
): Promise<RunningFunction> {
  const port = await freePort();
  const folder = join(bundles, name);
  const child = spawn(
    emulator,
    [
      '--runtime-interface-emulator-address',
      `127.0.0.1:${port}`,
      '--runtime-api-address',
      `127.0.0.1:${await freePort()}`,
      node,
      client,
      'index.handler',
    ],
    {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        AWS_LAMBDA_FUNCTION_NAME: name,
        AWS_LAMBDA_FUNCTION_TIMEOUT: String(functionTimeoutSeconds[name]),
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
        LAMBDA_TASK_ROOT: folder,
        ...environment,
      },
      detached: true,
    },
  );
  let written = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (written += chunk));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  running.add(child.pid!);
  return {
    async invoke(event) {
      const begun = Date.now();
      const answer = await post(`http://127.0.0.1:${port}/2015-03-31/functions/function/invocations`, event);
      return { answer, seconds: (Date.now() - begun) / 1000 };
    },
    log: () => written,
    memory: () => Math.max(0, ...runtimesBelow(child.pid!).map(peakMegabytes)),
    startMillis: () => Number(/INIT REPORT\(durationMs: ([\d.]+)\)/.exec(written)?.[1]),
    async stop() {
      kill(child.pid!);
      await exited;
    },
  };
}

const running = new Set<number>();
process.once('exit', () => running.forEach(kill));

/** Each is a process group of its own: the emulator and its runtime. */
function kill(pid: number): void {
  running.delete(pid);
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** It takes a moment until the emulator listens, and a function may take longer than fetch waits. */
async function post(url: string, event: unknown): Promise<Record<string, unknown>> {
  for (let tries = 0; ; tries++) {
    try {
      const text = await new Promise<string>((resolve, reject) => {
        const call = request(url, { method: 'POST' }, (response) => resolve(textOf(response)));
        call.once('error', reject).end(JSON.stringify(event));
      });
      return JSON.parse(text || 'null');
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function runtimesBelow(pid: number): number[] {
  const ofThread = (thread: string) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => ofThread(thread).split(' ').filter(Boolean).map(Number));
}

const peakMegabytes = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
