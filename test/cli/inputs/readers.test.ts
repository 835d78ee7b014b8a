import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isExposed, othersCanRead } from '../../../cli/inputs/read-text.ts';
import { programs } from '../../programs.ts';
import { serviceHere } from '../here.ts';
import { folder } from '../processes.ts';

describe('a file with a secret', () => {
  it.each<[string, { mode: number; owner: number; us: number | undefined; path?: string }, boolean]>([
    ['of ours, for us alone', { mode: 0o600, owner: 1000, us: 1000 }, false],
    ['of ours, for our group', { mode: 0o640, owner: 1000, us: 1000 }, true],
    ['of ours, for everybody', { mode: 0o644, owner: 1000, us: 1000 }, true],
    ["of root's, which we read by our group (Kubernetes, fsGroup)", { mode: 0o440, owner: 0, us: 65_532 }, false],
    ["of root's, for everybody", { mode: 0o444, owner: 0, us: 65_532 }, true],
    [
      'mounted by Kubernetes for a container that is root',
      { mode: 0o444, owner: 0, us: 0, path: '/token/..2026_11_21_03_30_00.4711/token' },
      false,
    ],
    ['where users have no numbers', { mode: 0o666, owner: 0, us: undefined }, false],
  ])('%s', (_name, { mode, owner, us, path = '/home/me/token' }, exposed) => {
    expect(isExposed({ mode: 0o100_000 | mode, uid: owner }, path, us)).toBe(exposed);
  });

  it('is reported with the command that makes it private', () => {
    const path = folder().write('token', 'abc');
    chmodSync(path, 0o644);
    expect(othersCanRead(path)).toBe(`Other users of this machine can read ${path}: chmod 600 ${path}`);
    chmodSync(path, 0o600);
    expect(othersCanRead(path)).toBeUndefined();
    expect(othersCanRead('/no/such/file')).toBeUndefined();
  });
});

it('may be standard input, which is read once', async () => {
  const { server, files } = await serviceHere();
  const url = server[1]!;
  const args = [programs.start, 'survey', '--gms-url', url, '--token-file', '-'];
  const child = spawn('sh', ['-c', 'cat "$0" | "$@"', files.at('token'), process.execPath, ...args]);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  expect(stdout).toMatch(/^Access {2}address from --gms-url, token from standard input$/m);
});
