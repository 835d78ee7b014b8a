import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { programs } from '../../programs.ts';
import { writtenBy } from '../../support/written.ts';
import { operation, serviceHere } from '../here.ts';
import { startReceiver } from '../outputs/receiver.ts';

/** A long run by hand, whose terminal is closed. */

const checkout = new URL('../../../retention', import.meta.url).pathname;

test.each([
  ['SIGHUP', 'is ignored (nohup)', `trap '' HUP; exec "${checkout}" "$@"`],
  ['SIGTERM', 'is ignored', `trap '' TERM; exec "${checkout}" "$@"`],
  ['SIGINT', 'is ignored, as in the background of a script', `"${checkout}" "$@" & wait $!`],
  ['SIGHUP', 'finds the output in a file', `exec "${process.execPath}" "${programs.start}" "$@" > "$OUT" 2>&1`],
  ['SIGUSR1', 'asks for a debugger', `exec "${process.execPath}" "${programs.start}" "$@"`],
] as const)('%s that %s changes nothing: the run ends, and posts its message', async (signal, _, script) => {
  const { run, sent, files, engine } = await serviceHere();
  const hook = await startReceiver();
  const out = files.at('out');
  const args = run('enforce', [operation], '--notify-url-file', files.write('hook', hook.url));
  const child = spawn('sh', ['-c', script, 'sh', ...args], {
    env: { PATH: process.env['PATH'], HOME: files.at('.'), OUT: out },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const { ended } = writtenBy(child);
  // To the whole group, as a terminal does it, as soon as the truncate has arrived.
  engine.onRequest = ({ body }) => {
    if (!body.includes('"dryRun":false')) return undefined;
    engine.onRequest = undefined;
    process.kill(signal === 'SIGINT' ? -child.pid! : child.pid!, signal);
    return undefined;
  };
  const { status, stdout, stderr } = await ended;
  expect([hook.received.length, sent().length]).toEqual([1, 1]);
  if (signal !== 'SIGINT') expect(status).toBe(0);
  expect(stdout + stderr + (script.includes('$OUT') ? readFileSync(out, 'utf8') : '')).not.toMatch(/Debugger|Stopped/);
});
