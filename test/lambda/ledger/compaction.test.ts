import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fileLedger } from '../../../lambda/ledger/file.ts';
import { anIdle, anIndex, aReserved, aRunning, aSending } from '../../support/records.ts';
import { freeDisk, type HookedDisk } from './hooked-disk.ts';

const disk: HookedDisk = vi.hoisted(() => ({}) as HookedDisk);
vi.mock('node:fs', async (original) => {
  const { hookDisk, freeDisk: free } = await import('./hooked-disk.ts');
  return hookDisk(await original(), Object.assign(disk, free()));
});

let folder: string;
let path: string;
/** A journal of several nights that is worth compacting: two indices, one of them with a truncation in progress. */
let grown: string;
beforeEach(async () => {
  Object.assign(disk, freeDisk());
  // In memory if possible, because each line waits for the disk.
  folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'compaction-'));
  path = join(folder, 'in-flight.json');
  grown = join(folder, 'grown.json');
  const ledger = fileLedger(grown);
  await ledger.takeScheduledTime(first);
  await ledger.replace(undefined, anIdle({ index: 'another' }));
  let last = anIdle();
  await ledger.replace(undefined, last);
  for (let night = 0; night < 5; night++) {
    const attemptId = `attempt-${night}`;
    await ledger.replace(last, aReserved({ attemptId }));
    await ledger.replace(aReserved({ attemptId }), aSending({ attemptId }));
    last = anIdle({ attemptId });
    await ledger.replace(aSending({ attemptId }), last);
  }
  await ledger.replace(last, aReserved());
  await ledger.replace(aReserved(), aSending());
  await ledger.replace(aSending(), aRunning());
  ledger.close();
  copyFileSync(grown, path);
});
afterEach(() => {
  Object.assign(disk, freeDisk());
  rmSync(folder, { recursive: true, force: true });
});

const first = { atMillis: 5, runId: 'first', runStartMillis: 7 };
const stored = [anIdle({ index: 'another' }), aRunning()];
const next = anIdle({ attemptId: 'attempt-1' });
const open = () => fileLedger(path, { compactAbove: 0 });
const read = async () => {
  const ledger = fileLedger(path, { readOnly: true });
  const records = await ledger.list();
  ledger.close();
  return records;
};
const size = () => statSync(path).size;
const leftovers = () => (existsSync(`${path}.compacting`) ? readdirSync(`${path}.compacting`) : []);

describe('a ledger file that has grown', () => {
  test('is compacted at the start of a run to what counts', async () => {
    const before = size();
    const ledger = open();
    expect(await ledger.list()).toEqual(stored);
    expect(await ledger.takeScheduledTime({ ...first, runId: 'second' })).toEqual(first);
    expect(await ledger.replace(aRunning(), anIdle({ attemptId: 'attempt-1' }))).toBe(true);
    expect(size()).toBeLessThan(before / 3);
    expect(existsSync(`${path}.compacting`)).toBe(false);
    expect(await fileLedger(path).read(anIndex)).toEqual(anIdle({ attemptId: 'attempt-1' }));
  });

  test('is compacted again and again, and stays small over two hundred nights', async () => {
    let last = aRunning();
    for (let night = 0; night < 200; night++) {
      const ledger = fileLedger(path, { compactAbove: 20_000 });
      const next = aRunning({ attemptId: `night-${night}` });
      expect(await ledger.replace(last, next)).toBe(true);
      last = next;
      ledger.close();
    }
    expect(size()).toBeLessThan(25_000);
    expect((await read()).at(-1)).toEqual(last);
  });

  test.each<[string, () => void]>([
    ['is small enough', () => {}],
    ['may only be read', () => fileLedger(path, { readOnly: true, compactAbove: 0 }).list()],
    ['has a second hard link', () => linkSync(path, join(folder, 'hard-link'))],
    [
      'has a compaction file beside it already',
      () => {
        writeFileSync(`${path}.compacting`, '');
      },
    ],
  ])('is not compacted where it %s', async (what, prepare) => {
    prepare();
    const before = readFileSync(path);
    const ledger = what === 'is small enough' ? fileLedger(path) : what === 'may only be read' ? undefined : open();
    if (ledger) expect(await ledger.list()).toEqual(stored);
    expect(readFileSync(path)).toEqual(before);
    expect(await fileLedger(path).replace(aRunning(), anIdle({ attemptId: 'attempt-1' }))).toBe(true);
  });

  test('is compacted behind a symbolic link, which stays a link', async () => {
    const target = join(folder, 'elsewhere', 'ledger');
    mkdirSync(join(folder, 'elsewhere'));
    renameSync(path, target);
    symlinkSync(target, path);
    const before = size();
    expect(await open().list()).toEqual(stored);
    expect(statSync(target).size).toBeLessThan(before / 3);
    expect(readFileSync(path)).toEqual(readFileSync(target));
  });

  test('keeps its mode', () => {
    chmodSync(path, 0o660);
    open().close();
    expect(statSync(path).mode & 0o777).toBe(0o660);
  });

  test('is refused and left unchanged when it is damaged', () => {
    const text = readFileSync(path, 'utf8').replace('"attemptId":"attempt-3"', '"attemptId":"attempt-3');
    writeFileSync(path, text);
    expect(open).toThrow(/is damaged.*nothing is started/);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test('stores the writes of a process that had it open before the compaction', async () => {
    const [writer, reader] = [fileLedger(path), fileLedger(path, { readOnly: true })];
    open().close();
    expect(await writer.replace(aSending(), anIdle())).toBe(false);
    expect(await writer.replace(aRunning(), anIdle({ attemptId: 'attempt-1' }))).toBe(true);
    expect(await reader.read(anIndex)).toEqual(anIdle({ attemptId: 'attempt-1' }));
  });

  test('is refused when another file was put in its place', async () => {
    const ledger = fileLedger(path);
    copyFileSync(grown, join(folder, 'other'));
    fileLedger(join(folder, 'other'), { compactAbove: 0 }).close();
    renameSync(join(folder, 'other'), path);
    for (let again = 0; again < 2; again++)
      await expect(ledger.read(anIndex)).rejects.toThrow(/was replaced while in use/);
  });

  test('is compacted even if it ends with a truncated line or with zeros', async () => {
    appendFileSync(path, `\n${readFileSync(path, 'utf8').trim().split('\n').at(-1)?.slice(0, 80)}`);
    appendFileSync(path, Buffer.alloc(300_000));
    expect(await open().list()).toEqual(stored);
    expect(readFileSync(path).includes(0)).toBe(false);
  });

  test('with nothing but scheduled times is followed through two compactions', async () => {
    rmSync(path);
    const inUse = fileLedger(path);
    for (let time = 0; time < 8; time++) await inUse.takeScheduledTime({ ...first, atMillis: time });
    const once = open();
    appendFileSync(path, '\n'.repeat(4000));
    open().close();
    expect(readFileSync(path, 'utf8').match(/atMillis/g)).toHaveLength(1);
    for (const ledger of [once, inUse])
      expect(await ledger.takeScheduledTime({ ...first, atMillis: 3 })).toEqual({ ...first, atMillis: 7 });
  });

  test('keeps only the latest scheduled time', async () => {
    const ledger = fileLedger(path);
    for (let time = 6; time < 9; time++) await ledger.takeScheduledTime({ ...first, atMillis: time });
    const compacted = open();
    expect(readFileSync(path, 'utf8').match(/atMillis/g)).toHaveLength(1);
    expect(await compacted.takeScheduledTime({ ...first, runId: 'another' })).toEqual({ ...first, atMillis: 8 });
  });
});

describe('a compaction', () => {
  class Killed extends Error {}

  /**
   * Opens the ledger, which compacts it, as a process that is killed before call number `at`.
   * @returns whether it got that far
   */
  function killedBefore(at: number): boolean {
    let calls = 0;
    disk.before = () => {
      if (calls++ >= at) throw new Killed();
    };
    try {
      open().close();
    } catch {}
    Object.assign(disk, freeDisk());
    return calls > at;
  }

  /** Expects that nothing is lost, and that the next start compacts and tidies up. */
  async function expectWhole(): Promise<void> {
    expect(await read()).toEqual(stored);
    const ledger = open();
    expect(await ledger.list()).toEqual(stored);
    expect(size()).toBeLessThan(statSync(grown).size / 3);
    expect(leftovers()).toEqual([]);
    ledger.close();
  }

  test('loses nothing when it is killed before any of its calls', async () => {
    let at = 0;
    for (; ; at++) {
      copyFileSync(grown, path);
      if (!killedBefore(at)) break;
      const writer = fileLedger(path);
      expect(await writer.replace(aRunning(), next)).toBe(true);
      expect(await writer.replace(next, aRunning())).toBe(true);
      expect(leftovers()).toEqual([]);
      writer.close();
      await expectWhole();
      rmSync(path);
    }
    expect(at).toBeGreaterThan(20);
  });

  /** Where a file of these bytes may be cut short: at each byte near the end of a line, and at every 29th in between. */
  const cuts = (bytes: Buffer): number[] =>
    [...bytes.keys()].slice(1).filter((at) => at % 29 === 0 || bytes.subarray(at - 3, at + 3).includes('\n'));

  test.each(['is killed', 'finds the disk full'])(
    'that %s at any byte of the new file loses no record',
    async (how) => {
      open().close();
      for (const room of cuts(readFileSync(path))) {
        rmSync(path);
        copyFileSync(grown, path);
        let dead = false;
        Object.assign(disk, { room });
        if (how === 'is killed') {
          disk.whenFull = () => {
            dead = true;
          };
          disk.before = () => {
            if (dead || disk.room === 0) throw new Killed();
          };
        }
        try {
          const ledger = open();
          if (how === 'finds the disk full') expect(await ledger.list()).toEqual(stored);
          ledger.close();
        } catch (error) {
          if (how === 'finds the disk full') throw error;
        }
        Object.assign(disk, freeDisk());
        expect(leftovers()).toHaveLength(how === 'is killed' ? 1 : 0);
        expect(size()).toBe(statSync(grown).size);
        await expectWhole();
      }
    },
  );

  /**
   * Runs `action` once, before call number `at` of what happens next.
   * @returns a function that says whether it got that far
   */
  function stepIn(at: number, action: () => void): () => boolean {
    let calls = 0;
    disk.before = () => {
      if (calls++ !== at) return;
      disk.before = () => {};
      action();
    };
    return () => {
      disk.before = () => {};
      return calls > at;
    };
  }

  test('loses no line that another process stores between its calls', async () => {
    let steppedIn = true;
    for (let at = 0; steppedIn; at++) {
      copyFileSync(grown, path);
      const writer = fileLedger(path);
      let answer: Promise<boolean> | undefined;
      const end = stepIn(at, () => {
        answer = writer.replace(aRunning(), next);
      });
      const ledger = open();
      steppedIn = end();
      if (steppedIn) {
        expect([at, await answer]).toEqual([at, true]);
        expect([at, await ledger.read(anIndex), await writer.read(anIndex)]).toEqual([at, next, next]);
        expect((await read()).at(-1)).toEqual(next);
      }
      for (const each of [ledger, writer]) each.close();
      rmSync(path);
    }
  });

  test('that comes between the calls of a write leaves that write stored once', async () => {
    let steppedIn = true;
    for (let at = 0; steppedIn; at++) {
      copyFileSync(grown, path);
      const writer = fileLedger(path);
      const end = stepIn(at, () => open().close());
      const answer = await writer.replace(aRunning(), next);
      steppedIn = end();
      expect([at, answer, await writer.read(anIndex)]).toEqual([at, true, next]);
      expect((await read()).at(-1)).toEqual(next);
      writer.close();
      rmSync(path);
    }
  });

  test('loses nothing when another compaction and a write run at the same time', async () => {
    let outer = true;
    for (let at = 0; outer; at++) {
      let inner = true;
      for (let within = 0; inner && outer; within++) {
        // A third of the pairs, which still interrupt each call of either.
        if ((at + within) % 3 !== 0) continue;
        copyFileSync(grown, path);
        const writer = fileLedger(path);
        let answer: Promise<boolean> | undefined;
        const end = stepIn(at, () => {
          const endWithin = stepIn(within, () => {
            answer = writer.replace(aRunning(), next);
          });
          open().close();
          inner = endWithin();
        });
        open().close();
        outer = end();
        if (answer) {
          expect([at, within, await answer]).toEqual([at, within, true]);
          expect([at, within, (await read()).at(-1)]).toEqual([at, within, next]);
        }
        writer.close();
        rmSync(path);
      }
    }
  });
});

describe('a write to a ledger file', () => {
  test('loses and blocks nothing when the disk is full twice, at any byte', async () => {
    const before = size();
    await fileLedger(path).replace(aRunning(), next);
    const line = size() - before;
    // If only its last line break were missing, the line would count.
    for (let room = 1; room < line - 1; room += room < 6 || room > line - 6 ? 1 : 50) {
      for (const again of [0, 1, 2, 3, 4, 60]) {
        copyFileSync(grown, path);
        for (const left of [room, again]) {
          const ledger = fileLedger(path);
          disk.room = left;
          await expect(ledger.replace(aRunning(), next)).rejects.toThrow(/Cannot write the ledger file/);
          Object.assign(disk, freeDisk());
          ledger.close();
        }
        expect([room, again, await read()]).toEqual([room, again, stored]);
        const ledger = fileLedger(path);
        expect([room, again, await ledger.replace(aRunning(), next)]).toEqual([room, again, true]);
        ledger.close();
      }
    }
  });
});
