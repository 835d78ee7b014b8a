import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Options } from '../../../cli/command-line/options.ts';
import { type OutputFile, outputFile, WriteError, writeOutputFile } from '../../../cli/outputs/output-file.ts';
import { programs } from '../../programs.ts';
import { problemOf } from '../inputs/problem.ts';
import { folder } from '../processes.ts';

const report = (path: string, force = false): OutputFile => ({ path, holds: 'report', force });
const policies = (path: string, force = false): OutputFile => ({ path, holds: 'policies', force });
const figures = (path: string): OutputFile => ({ path, holds: 'figures', force: false });
const check = ({ path, holds, force }: OutputFile, others: Options = {}) =>
  outputFile(holds, { ...others, force, [holds === 'figures' ? 'metricsFile' : 'json']: path });
const aReport = { version: 1, runId: 'local-1', policies: [] };

describe('the path of --json', () => {
  it('is not touched by the check that it can be written', () => {
    const { at } = folder();
    check(report(at('new.json')));
    expect(existsSync(at('new.json'))).toBe(false);
  });

  it.each([
    ['that is a folder', 'reports', 'it is a folder'],
    ['below a device', '/dev/null/report.json', 'folder'],
    ['below what cannot be', '/proc/nope/report.json', 'folder'],
    // Without a reader, writing would wait for good.
    ['that is a pipe', 'pipe', 'it is a pipe; name a file, or - for standard output'],
  ])('%s is refused', (_, name, why) => {
    const { at } = folder();
    mkdirSync(at('reports'));
    execFileSync('mkfifo', [at('pipe')]);
    const path = name.startsWith('/') ? name : at(name);
    expect(problemOf(() => check(report(path)))).toContain(why);
  });

  it('is not told to be standard output where a page cannot be', () => {
    const { at } = folder();
    execFileSync('mkfifo', [at('pipe')]);
    expect(problemOf(() => outputFile('page', { html: at('pipe') }))).toMatch(/: it is a pipe; name a file\.$/);
  });

  it('in a folder that does not exist is refused with the folder that was looked for', () => {
    expect(problemOf(() => check(report('no/report.json')))).toContain(`there is no folder ${process.cwd()}/no;`);
  });

  it('that is the file of another option is refused, also through a link', () => {
    const { at, write } = folder();
    const path = write('policies.json', []);
    symlinkSync(path, at('link.json'));
    for (const name of [path, at('../').concat(path.split('/').slice(-2).join('/')), at('link.json')]) {
      expect(problemOf(() => check(report(name, true), { policies: path }))).toMatch(
        /is the file of --policies, which would be overwritten: name another\.$/,
      );
    }
  });

  it('that is also the ledger is refused before either file exists', () => {
    const { at } = folder();
    symlinkSync(at('.'), at('here'));
    expect(problemOf(() => check(report(at('here/x.json')), { ledger: at('x.json') }))).toContain('--ledger');
  });

  it('that lies in the ledger is refused: it could be a record', () => {
    const { at, write } = folder();
    mkdirSync(at('ledger'));
    write('ledger/a@1.json', {});
    expect(problemOf(() => check(report(at('ledger/a@1.json'), true), { ledger: at('ledger') }))).toContain(
      'is the file of --ledger',
    );
  });

  it('may be standard output', () => {
    expect(() => check(report('-'), { policies: '-' })).not.toThrow();
  });
});

describe('a file that exists already', () => {
  it('is kept, before the run and at its end', () => {
    for (const file of [report, policies]) {
      const path = folder().write('file.json', aReport);
      expect(problemOf(() => check(file(path)))).toMatch(
        /the file exists; name another, or add --force to replace it\.$/,
      );
      expect(() => writeOutputFile(file(path), 'new')).toThrow(WriteError);
      expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(aReport);
    }
  });

  it('is replaced where it is empty, or holds figures, of which each run has new ones', () => {
    const { write } = folder();
    for (const file of [report(write('r.json', '')), figures(write('f.prom', '# TYPE old gauge'))]) {
      check(file);
      writeOutputFile(file, 'new');
      expect(readFileSync(file.path, 'utf8')).toBe('new');
    }
  });

  it('that holds something else is never replaced by figures: a token that a variable names, a record of the ledger', () => {
    const path = folder().write('token', 'hunter2hunter2');
    expect(problemOf(() => check({ ...figures(path), force: true }))).toMatch(
      /^--metrics-file .*: the file exists, and holds no figures; name another\.$/,
    );
    expect(() => writeOutputFile(figures(path), 'new')).toThrow(WriteError);
    expect(readFileSync(path, 'utf8')).toBe('hunter2hunter2');
  });

  it('is replaced if that is asked for, by another file: whatever the disk does, one of them is whole', () => {
    const path = folder().write('file.json', 'my notes');
    check(policies(path, true));
    const { ino } = statSync(path);
    writeOutputFile(policies(path, true), '[]');
    expect([readFileSync(path, 'utf8'), statSync(path).ino === ino]).toEqual(['[]', false]);
  });

  it('keeps its link, and leaves nothing beside it', () => {
    const { at, write } = folder();
    write('real.json', aReport);
    symlinkSync(at('real.json'), at('link.json'));
    writeOutputFile(report(at('link.json'), true), 'new');
    expect(readFileSync(at('real.json'), 'utf8')).toBe('new');
    expect(readdirSync(at('.')).sort()).toEqual(['link.json', 'real.json']);
  });
});

describe('what is written', () => {
  it.each(['report', 'policies', 'page', 'figures'] as const)(
    'has the mode of what it replaces, or can be read by others: a file of %s',
    (holds) => {
      const { at, write } = folder();
      const old = write('old', '# TYPE old gauge');
      chmodSync(old, 0o640);
      for (const path of [old, at('new')]) writeOutputFile({ path, holds, force: true }, '{}');
      expect([old, at('new')].map((path) => statSync(path).mode & 0o777)).toEqual([0o640, 0o644]);
    },
  );

  it('can be read by others whatever the umask of a timer is', () => {
    const { at } = folder();
    mkdirSync(at('ledger'));
    const args = [process.execPath, programs.start, 'status', '--ledger', at('ledger'), '--json', at('status.json')];
    expect(spawnSync('sh', ['-c', 'umask 077; exec "$0" "$@"', ...args]).status).toBe(0);
    expect(statSync(at('status.json')).mode & 0o777).toBe(0o644);
  });

  it('may also go to a device', () => {
    expect(() => writeOutputFile(report('/dev/null'), '{}')).not.toThrow();
  });

  it('reports a full disk with what to do', () => {
    check(report('/dev/full'));
    expect(() => writeOutputFile(report('/dev/full'), '{}')).toThrow(
      '--json /dev/full was not written: the disk is full; free some space.',
    );
  });
});
