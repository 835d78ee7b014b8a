import type { ChildProcess } from 'node:child_process';

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** What a process writes: so far, and all of it when it has ended. */
export function writtenBy(child: ChildProcess) {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const ended = new Promise<Ended>((resolve) => child.on('close', (status) => resolve({ status, ...output })));
  return { output, ended };
}
