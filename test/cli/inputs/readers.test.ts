import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Options } from '../../../cli/command-line/options.ts';
import { remarksOn } from '../../../cli/commands/files.ts';
import { othersCanRead } from '../../../cli/inputs/read-text.ts';
import { programs } from '../../programs.ts';
import { writtenBy } from '../../support/written.ts';
import { serviceHere } from '../here.ts';
import { folder } from '../processes.ts';

describe('a file with a secret', () => {
  it('is reported with the command that makes it private', () => {
    const path = folder().write('token', 'abc');
    chmodSync(path, 0o644);
    expect(othersCanRead(path)).toBe(`Other users of this machine can read ${path}: chmod 600 ${path}`);
    chmodSync(path, 0o640);
    expect(othersCanRead(path)).toBeUndefined();
  });

  it('is one of token, headers, key and webhook, and of a certificate that has the key in it', () => {
    const { write } = folder();
    const [open, own] = [write('open', 'abc'), write('own', 'abc')];
    chmodSync(open, 0o644);
    chmodSync(own, 0o600);
    const secrets: Options[] = [
      ...[{ tokenFile: open }, { headerFile: open }, { clientKey: open, clientCertificate: own }],
      ...[{ notifyUrlFile: open }, { clientCertificate: open }],
    ];
    expect(secrets.map((given) => remarksOn(given).length)).toEqual([1, 1, 1, 1, 1]);
    const others = { clientCertificate: open, clientKey: own, caFile: open, policies: open, ledger: open };
    expect(remarksOn(others)).toEqual([]);
  });

  it('is not, where Kubernetes has mounted it for a container', () => {
    const { at, write } = folder();
    const dated = '..2026_11_21_03_30_00.4711';
    mkdirSync(at(dated));
    chmodSync(write(`${dated}/token`, 'abc'), 0o444);
    symlinkSync(at(`${dated}/token`), at('token'));
    expect(othersCanRead(at('token'))).toBeUndefined();
  });
});

it('may be standard input, which is read once', async () => {
  const { server, files } = await serviceHere();
  const url = server[1]!;
  const args = [programs.start, 'survey', '--gms-url', url, '--token-file', '-'];
  const child = spawn('sh', ['-c', 'cat "$0" | "$@"', files.at('token'), process.execPath, ...args]);
  const { status, stdout } = await writtenBy(child).ended;
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Access {2}address from --gms-url, token from standard input$/m);
});
