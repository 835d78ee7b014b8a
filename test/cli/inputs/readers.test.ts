import { chmodSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isExposed, othersCanRead } from '../../../cli/inputs/read-text.ts';
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
      { mode: 0o440, owner: 0, us: 0, path: '/token/..2026_11_21_03_30_00.4711/token' },
      false,
    ],
    ['where users have no numbers', { mode: 0o666, owner: 0, us: undefined }, false],
  ])('%s', (_name, { mode, owner, us, path = '/home/me/token' }, exposed) => {
    expect(isExposed({ stats: { mode: 0o100_000 | mode, uid: owner }, path, uid: us })).toBe(exposed);
  });

  it('is reported with the command that makes it private', () => {
    const path = folder((cleanUp) => onTestFinished(cleanUp)).write('token', 'abc');
    chmodSync(path, 0o644);
    expect(othersCanRead(path)).toBe(`Other users of this machine can read ${path}: chmod 600 ${path}`);
    chmodSync(path, 0o600);
    expect(othersCanRead(path)).toBeUndefined();
    expect(othersCanRead('/no/such/file')).toBeUndefined();
  });
});
