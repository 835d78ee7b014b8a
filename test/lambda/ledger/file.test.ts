import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileLedger } from '../../../lambda/ledger/file.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { LEDGER_VERSION } from '../../../lambda/ledger/record.ts';
import { programs } from '../../programs.ts';
import { anIdle, anIndex, aReserved, aRunning, aSending } from '../../support/records.ts';
import { ledgerContract } from './contract.ts';

/** In memory if possible, because each line waits for the disk. */
const fastest = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(fastest, 'ledger-'));
  path = join(folder, 'state', 'in-flight.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const lineOf = (fields: object) =>
  JSON.stringify({ ledger: 1, id: 'planted', index: anIndex, follows: null, ...fields, end: true });
const follows = (attemptId: string) => ({ version: LEDGER_VERSION, state: 'idle', attemptId });

ledgerContract('the ledger in a file', async () => {
  const own = mkdtempSync(join(fastest, 'ledger-contract-'));
  const file = join(own, 'in-flight.json');
  return {
    ledger: () => fileLedger(file),
    async plant(index, record) {
      appendFileSync(file, `${lineOf({ index, record })}\n`);
    },
    close: () => rmSync(own, { recursive: true, force: true }),
  };
});

describe('the ledger file', () => {
  test('shows a ledger what another one wrote after it was opened', async () => {
    const [first, second] = [fileLedger(path), fileLedger(path)];
    expect(await first.replace(undefined, anIdle({ attemptId: 'a' }))).toBe(true);
    expect(await second.read(anIndex)).toMatchObject({ attemptId: 'a' });
    expect(await second.replace(undefined, anIdle({ attemptId: 'b' }))).toBe(false);
    expect(await first.read(anIndex)).toMatchObject({ attemptId: 'a' });
  });

  test('holds one record for an index, also under another address of the server', async () => {
    await fileLedger(path).replace(undefined, anIdle({ server: 'http://localhost:8080' }));
    expect(await fileLedger(path).replace(undefined, anIdle({ server: 'https://host/api/gms' }))).toBe(false);
    expect(await fileLedger(path).list()).toHaveLength(1);
  });

  test.each([1, 20, 100, -1])('ignores a line that a kill cut short after %i bytes', async (length) => {
    const whole = fileLedger(path);
    await whole.replace(undefined, anIdle({ attemptId: 'a' }));
    const line = lineOf({ follows: follows('a'), record: anIdle({ attemptId: 'never' }) });
    appendFileSync(path, `\n${line.slice(0, length)}`);
    const next = fileLedger(path);
    expect(await next.read(anIndex)).toMatchObject({ attemptId: 'a' });
    expect(await next.replace(anIdle({ attemptId: 'a' }), anIdle({ attemptId: 'b' }))).toBe(true);
    expect(await whole.read(anIndex)).toMatchObject({ attemptId: 'b' });
  });

  test('ignores several truncated lines in a row, with or without lines after them', async () => {
    await fileLedger(path).replace(undefined, anIdle({ attemptId: 'a' }));
    const half = lineOf({ follows: follows('a'), record: anIdle({ attemptId: 'never' }) }).slice(0, 80);
    appendFileSync(path, `\n${half}\n${half}`);
    const next = fileLedger(path);
    expect(await next.read(anIndex)).toMatchObject({ attemptId: 'a' });
    appendFileSync(path, `\n${half}`);
    expect(await next.read(anIndex)).toMatchObject({ attemptId: 'a' });
    expect(await next.replace(anIdle({ attemptId: 'a' }), anIdle({ attemptId: 'b' }))).toBe(true);
    expect(await fileLedger(path).read(anIndex)).toMatchObject({ attemptId: 'b' });
  });

  test.each([
    ['nothing but zeros', 0],
    ['zeros after half a line', 50],
  ])('ignores a tail that a power loss filled with zeros (%s)', async (_, length) => {
    await fileLedger(path).replace(undefined, anIdle({ attemptId: 'a' }));
    const line = lineOf({ follows: follows('a'), record: anIdle({ attemptId: 'never' }) });
    appendFileSync(path, Buffer.concat([Buffer.from(`\n${line.slice(0, length)}`), Buffer.alloc(4096)]));
    const next = fileLedger(path);
    expect(await next.read(anIndex)).toMatchObject({ attemptId: 'a' });
    expect(await next.replace(anIdle({ attemptId: 'a' }), anIdle({ attemptId: 'b' }))).toBe(true);
    expect(await fileLedger(path).read(anIndex)).toMatchObject({ attemptId: 'b' });
  });

  test('that is damaged in the middle is refused, without the advice to move it', async () => {
    const ledger = fileLedger(path);
    await ledger.replace(undefined, anIdle({ attemptId: 'a' }));
    await ledger.replace(anIdle({ attemptId: 'a' }), anIdle({ attemptId: 'b' }));
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('"attemptId":"a"', '"attemptId":"a'));
    expect(() => fileLedger(path)).toThrow(
      /^The ledger file .* is damaged.*nothing is started.*Restore it from a backup/,
    );
    expect(() => fileLedger(path)).not.toThrow(/mov/);
  });

  test('counts the first of two lines that replace the same record', async () => {
    const line = (id: string, after: object | null, attemptId: string) =>
      `\n${lineOf({ id, follows: after, record: anIdle({ attemptId }) })}\n`;
    fileLedger(path).close();
    appendFileSync(path, line('1', null, 'first') + line('2', null, 'slower'));
    const ledger = fileLedger(path);
    expect(await ledger.read(anIndex)).toMatchObject({ attemptId: 'first' });
    appendFileSync(path, line('4', follows('first'), 'next') + line('5', follows('first'), 'slower again'));
    expect(await ledger.read(anIndex)).toMatchObject({ attemptId: 'next' });
  });

  test('with a line that replaces a record never stored has lost a line, and is refused from then on', async () => {
    const ledger = fileLedger(path);
    await ledger.replace(undefined, anIdle({ attemptId: 'a' }));
    await ledger.replace(undefined, anIdle({ attemptId: 'b', index: 'another' }));
    appendFileSync(path, `\n${lineOf({ follows: follows('b'), record: anIdle({ attemptId: 'c' }) })}\n`);
    for (let again = 0; again < 2; again++)
      await expect(ledger.read(anIndex)).rejects.toThrow(/^The ledger file .* is damaged.*Restore it from a backup/);
    expect(() => fileLedger(path)).toThrow(LedgerError);
  });

  /** A file with the lines reserved, sending, running, and what came afterwards: another index, or the next night. */
  const written = async (rest: 'another index' | 'the next night' | 'nothing') => {
    const ledger = fileLedger(path);
    await ledger.replace(undefined, aReserved());
    await ledger.replace(aReserved(), aSending());
    await ledger.replace(aSending(), aRunning());
    if (rest === 'another index') await ledger.replace(undefined, anIdle({ index: 'another' }));
    if (rest === 'the next night') await ledger.replace(aRunning(), anIdle({ attemptId: 'attempt-1' }));
    ledger.close();
    return readFileSync(path, 'utf8');
  };
  const lineStarts = (text: string) => [...text.matchAll(/\n\{/g)].map(({ index }) => index + 1);
  const changed = (text: string, at: number, character: string) => {
    // Emptying a file first takes ten times as long as writing over it.
    const file = openSync(path, 'r+');
    writeSync(file, `${text.slice(0, at)}${character}${text.slice(at + 1)}`, 0);
    if (fstatSync(file).size !== text.length) ftruncateSync(file, text.length);
    closeSync(file);
  };

  test.each(['another index', 'the next night', 'nothing'] as const)(
    'with one wrong character hides no truncation (followed by %s)',
    async (rest) => {
      const text = await written(rest);
      const [, sending = 0, running = 0] = lineStarts(text);
      const wrong = [']', '"', ',', '\n', '\0'];
      for (let at = sending - 2; at <= running; at++) {
        // A different one at each position, and all of them where the lines meet.
        const isEdge = at < sending + 2 || at > running - 4;
        for (const [number, character] of wrong.entries()) {
          if (text[at] === character || (!isEdge && (at + number) % 5 > 0)) continue;
          changed(text, at, character);
          const state = async () => {
            const ledger = fileLedger(path);
            const record = await ledger.read(anIndex);
            ledger.close();
            return record?.state;
          };
          const read = await state().catch((error: unknown) => error);
          const as = rest === 'the next night' ? 'idle' : 'running';
          if (!(read instanceof LedgerError))
            expect([at - sending, character, read]).toEqual([at - sending, character, as]);
        }
      }
    },
  );

  test.each([']', '\n', 'X', ' '])('whose last line ends with %j in place of a brace is refused', async (character) => {
    const text = await written('nothing');
    changed(text, text.length - 2, character);
    expect(() => fileLedger(path)).toThrow(/is damaged/);
  });

  test('with the line breaks of a Windows editor is refused, not read as empty', async () => {
    const text = await written('nothing');
    writeFileSync(path, text.replaceAll('\n', '\r\n'));
    expect(() => fileLedger(path)).toThrow(/is damaged/);
  });

  test('does not grow by writes that lost', async () => {
    const ledger = fileLedger(path);
    await ledger.replace(undefined, anIdle({ attemptId: 'a' }));
    const first = { atMillis: 5, runId: 'first', runStartMillis: 7 };
    await ledger.takeScheduledTime(first);
    const size = readFileSync(path).length;
    expect(await ledger.replace(undefined, anIdle({ attemptId: 'b' }))).toBe(false);
    expect(await ledger.takeScheduledTime({ ...first, runId: 'second' })).toEqual(first);
    expect(readFileSync(path)).toHaveLength(size);
  });

  test.each([
    ['an index without a record', lineOf({})],
    ['a record without an index', lineOf({ index: undefined, record: anIdle() })],
    ['no predecessor', lineOf({ follows: undefined, record: anIdle() })],
    ['an invalid scheduled time', lineOf({ scheduled: { runId: 'a' } })],
  ])('with a line that holds %s is damaged', (_, line) => {
    fileLedger(path).close();
    appendFileSync(path, `\n${line}\n`);
    expect(() => fileLedger(path)).toThrow(/is damaged/);
  });

  test('may hold blank lines', async () => {
    const ledger = fileLedger(path);
    appendFileSync(path, '\n \n\r\n');
    expect(await ledger.replace(undefined, anIdle())).toBe(true);
    expect(await fileLedger(path).read(anIndex)).toEqual(anIdle());
  });

  test('is read correctly when a line arrives in pieces', async () => {
    const ledger = fileLedger(path);
    const line = `${lineOf({ record: anIdle({ attemptId: 'a' }) })}\n`;
    for (const [from, to] of [
      [0, 20],
      [20, 50],
    ]) {
      appendFileSync(path, line.slice(from, to));
      expect(await ledger.read(anIndex)).toBeUndefined();
    }
    appendFileSync(path, line.slice(50));
    expect(await ledger.read(anIndex)).toMatchObject({ attemptId: 'a' });
  });

  test('with zeros inside a line is damaged', async () => {
    fileLedger(path).close();
    const line = lineOf({ record: anIdle({ attemptId: 'a' }) });
    appendFileSync(path, `\n${line.replace('"a"', '"\0\0a"')}\n`);
    expect(() => fileLedger(path)).toThrow(/is damaged in the middle/);
  });

  test('cannot be read once it is closed', async () => {
    const ledger = fileLedger(path);
    ledger.close();
    await expect(ledger.read(anIndex)).rejects.toThrow(LedgerError);
  });

  test('is not created again when it disappears during a run', async () => {
    const ledger = fileLedger(path);
    rmSync(path);
    await expect(ledger.read(anIndex)).rejects.toThrow(/^Cannot find the ledger file .* it does not exist/);
    expect(existsSync(path)).toBe(false);
  });

  test('is created with all its folders', async () => {
    const deep = join(folder, 'a', 'b', 'c', 'in-flight.json');
    expect(await fileLedger(deep).replace(undefined, anIdle())).toBe(true);
    expect(existsSync(deep)).toBe(true);
  });

  test('cannot be created in a folder that is a dangling link', () => {
    symlinkSync(join(folder, 'nowhere'), join(folder, 'state'));
    expect(() => fileLedger(path)).toThrow(/it does not exist and cannot be made/);
  });

  test('refuses a file that is no ledger, and leaves it unchanged', () => {
    const other = join(folder, 'notes.txt');
    writeFileSync(other, 'buy milk');
    expect(() => fileLedger(other)).toThrow(/is not a ledger: nothing is started/);
    expect(readFileSync(other, 'utf8')).toBe('buy milk');
  });

  test.each([
    ['a folder that is a file', () => writeFileSync(join(folder, 'state'), ''), /part of the path is not a folder/],
    ['a folder in its place', () => mkdirSync(path, { recursive: true }), /it is a folder; name a file/],
  ])('says what is wrong when it cannot be opened: %s', (_, prepare, expected) => {
    prepare();
    expect(() => fileLedger(path)).toThrow(expected);
  });

  test('reports at once that it cannot be created', () => {
    expect(() => fileLedger('/proc/nope/in-flight.json')).toThrow(/Cannot open the ledger file/);
  });

  test('can be read by a reader where it cannot be written', async () => {
    await fileLedger(path).replace(undefined, anIdle({ attemptId: 'a' }));
    chmodSync(path, 0o400);
    const ledger = fileLedger(path, { readOnly: true });
    expect(await ledger.list()).toHaveLength(1);
    await expect(ledger.replace(anIdle({ attemptId: 'a' }), anIdle({ attemptId: 'b' }))).rejects.toThrow(
      /Cannot write the ledger file/,
    );
  });

  test('is not created by a reader', () => {
    expect(() => fileLedger(path, { readOnly: true })).toThrow(/it does not exist/);
    expect(existsSync(path)).toBe(false);
  });

  test('stops when the file was replaced or became shorter', async () => {
    const ledger = fileLedger(path);
    await ledger.replace(undefined, anIdle());
    truncateSync(path, 10);
    await expect(ledger.read(anIndex)).rejects.toThrow(/^Cannot read the ledger file .* became shorter while in use/);
    renameSync(path, `${path}.old`);
    writeFileSync(path, '');
    await expect(ledger.read(anIndex)).rejects.toThrow(/was replaced while in use/);
  });

  test('cannot be read by other users of the machine', async () => {
    const { statSync } = await import('node:fs');
    fileLedger(path).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'state')).mode & 0o777).toBe(0o700);
  });
});

describe('several processes on one ledger file', () => {
  /** What a process prints; with `killedAfter`, it is killed as soon as it has printed that much. */
  const run = (rest: string[], killedAfter = Number.POSITIVE_INFINITY) =>
    new Promise<string>((resolve, reject) => {
      const child = spawn(process.execPath, [programs['acquire-records'], path, ...rest]);
      let output = '';
      child.stdout.on('data', (chunk) => {
        output += chunk;
        if (output.length >= killedAfter) child.kill('SIGKILL');
      });
      child.stderr.pipe(process.stderr);
      child.on('close', (code) => (code === 1 ? reject(new Error('exit 1')) : resolve(output)));
    });

  test('compete for one record: exactly one gets it, and none reads a torn line', async () => {
    const wins = await Promise.all(['p', 'q', 'r', 's'].map((name) => run([name])));
    const all = wins.flatMap((output) => JSON.parse(output) as string[]);
    expect(all.sort()).toEqual(Array.from({ length: 20 }, (_, round) => `index${round}`).sort());
    expect((await fileLedger(path).list()).length).toBe(20);
  });

  test('write and compact all the time, and some are killed: nothing that was stored is lost', async () => {
    await fileLedger(path).replace(undefined, anIdle());
    const killed = [3, 5, 8, 13];
    const wins = await Promise.all([
      ...['p', 'q'].map((name) => run([name, '60'])),
      ...killed.map((after) => run([`killed-${after}`, '60'], after)),
    ]);
    const stored = await fileLedger(path).read(anIndex);
    const won = wins.join('').length;
    // More if a kill came between a write and its dot, or another process had followed before we looked.
    expect((stored?.state === 'idle' && stored.judgeableAt) || 0).toBeGreaterThanOrEqual(won);
    expect(readFileSync(path).length).toBeLessThan(20_000);
  });
});
