import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileLedger } from '../../../lambda/ledger/file.ts';
import { anIndex, aRecord, aServer } from '../../support/records.ts';
import { ledgerContract } from './contract.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  path = join(folder, 'state', 'in-flight.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

ledgerContract('the ledger in a file', async () => {
  const own = mkdtempSync(join(tmpdir(), 'ledger-contract-'));
  const file = join(own, 'in-flight.json');
  return {
    server: aServer,
    ledger: () => fileLedger(file, aServer),
    async plant(index, record) {
      const line = {
        ledger: 1,
        id: 'planted',
        server: aServer,
        index,
        follows: null,
        record: { server: aServer, index, ...record },
      };
      appendFileSync(file, `${JSON.stringify(line)}\n`);
    },
    close: () => rmSync(own, { recursive: true, force: true }),
  };
});

describe('the ledger file', () => {
  test('is read on by a ledger that opened it before the other one wrote', async () => {
    const [first, second] = [fileLedger(path, aServer), fileLedger(path, aServer)];
    expect(await first.replace(undefined, aRecord({ attemptId: 'a' }))).toBe(true);
    expect(await second.read(anIndex)).toMatchObject({ attemptId: 'a' });
    expect(await second.replace(undefined, aRecord({ attemptId: 'b' }))).toBe(false);
    expect(await first.read(anIndex)).toMatchObject({ attemptId: 'a' });
  });

  test('keeps the records of several servers apart', async () => {
    await fileLedger(path, aServer).replace(undefined, aRecord());
    expect(await fileLedger(path, 'http://127.0.0.1:2').list()).toEqual([]);
  });

  test.each([1, 20, 100, -1])(
    'passes over a line that a kill cut short after %i bytes, and goes on',
    async (length) => {
      const whole = fileLedger(path, aServer);
      await whole.replace(undefined, aRecord({ attemptId: 'a' }));
      const line = JSON.stringify({
        ledger: 1,
        id: 'x',
        server: aServer,
        index: anIndex,
        follows: { state: 'idle', attemptId: 'a' },
        record: aRecord({ attemptId: 'never' }),
      });
      appendFileSync(path, `\n${line.slice(0, length)}`);
      const next = fileLedger(path, aServer);
      expect(await next.read(anIndex)).toMatchObject({ attemptId: 'a' });
      expect(await next.replace(aRecord({ attemptId: 'a' }), aRecord({ attemptId: 'b' }))).toBe(true);
      expect(await whole.read(anIndex)).toMatchObject({ attemptId: 'b' });
    },
  );

  test('of two lines that follow the same record counts the first, and nothing that follows the second', async () => {
    const line = (id: string, follows: object | null, attemptId: string) =>
      `\n${JSON.stringify({ ledger: 1, id, server: aServer, index: anIndex, follows, record: aRecord({ attemptId }) })}\n`;
    fileLedger(path, aServer).close();
    appendFileSync(path, line('1', null, 'first') + line('2', null, 'slower'));
    appendFileSync(path, line('3', { state: 'idle', attemptId: 'slower' }, 'after the slower one'));
    const ledger = fileLedger(path, aServer);
    expect(await ledger.read(anIndex)).toMatchObject({ attemptId: 'first' });
    appendFileSync(path, line('4', { state: 'idle', attemptId: 'first' }, 'next'));
    expect(await ledger.read(anIndex)).toMatchObject({ attemptId: 'next' });
  });

  test('does not take a file that is something else, and leaves it as it is', () => {
    const other = join(folder, 'notes.txt');
    writeFileSync(other, 'buy milk');
    expect(() => fileLedger(other, aServer)).toThrow(/is not a ledger file: give --ledger another path/);
    expect(readFileSync(other, 'utf8')).toBe('buy milk');
  });

  test('says what is wrong when it cannot be opened', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => fileLedger(join(folder, 'file', 'in-flight.json'), aServer)).toThrow(/cannot open the ledger file/);
  });

  test('refuses to go on when the file was replaced under it', async () => {
    const ledger = fileLedger(path, aServer);
    await ledger.replace(undefined, aRecord());
    renameSync(path, `${path}.old`);
    writeFileSync(path, '');
    await expect(ledger.read(anIndex)).rejects.toThrow(/was replaced while in use/);
  });
});

describe('several processes on one ledger file', () => {
  test('that all want one record: exactly one gets it, and none reads anything torn', async () => {
    const script = `
      import { fileLedger } from ${JSON.stringify(new URL('../../../lambda/ledger/file.ts', import.meta.url).href)};
      const [path, server, name] = process.argv.slice(2);
      const ledger = fileLedger(path, server);
      const wins = [];
      for (let round = 0; round < 20; round++) {
        const index = 'index.' + round;
        const next = { version: 1, server, index, state: 'reserved', attemptId: name };
        if (await ledger.replace(undefined, next)) wins.push(index);
      }
      console.log(JSON.stringify(wins));
    `;
    const program = join(folder, 'acquire.mts');
    writeFileSync(program, script);
    const acquire = (name: string) =>
      new Promise<string[]>((resolve, reject) => {
        const tsx = new URL('../../../node_modules/tsx/dist/loader.mjs', import.meta.url).href;
        const child = spawn(process.execPath, ['--import', tsx, program, path, aServer, name]);
        let output = '';
        child.stdout.on('data', (chunk) => {
          output += chunk;
        });
        child.on('exit', (code) => (code === 0 ? resolve(JSON.parse(output)) : reject(new Error(`exit ${code}`))));
      });
    const wins = await Promise.all(['p', 'q', 'r', 's'].map(acquire));
    const all = wins.flat();
    expect(all.sort()).toEqual(Array.from({ length: 20 }, (_, round) => `index.${round}`).sort());
    expect((await fileLedger(path, aServer).list()).length).toBe(20);
  });
});
