import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkOutputFile, type OutputFile, WriteError, writeOutputFile } from '../../../cli/outputs/output-file.ts';
import { problemOf } from '../inputs/problem.ts';
import { folder } from '../processes.ts';

const files = () => folder((cleanUp) => onTestFinished(cleanUp));
const report = (path: string, force = false): OutputFile => ({ path, holds: 'report', force });
const policies = (path: string, force = false): OutputFile => ({ path, holds: 'policies', force });
const aReport = { version: 1, runId: 'local-1', policies: [] };

describe('the path of --json', () => {
  it('is not touched by the check that it can be written', () => {
    const { at, write } = files();
    checkOutputFile(report(at('new.json')), []);
    expect(existsSync(at('new.json'))).toBe(false);
    checkOutputFile(report(write('old.json', aReport)), []);
    expect(JSON.parse(readFileSync(at('old.json'), 'utf8'))).toEqual(aReport);
  });

  it('in a folder that does not exist is refused', () => {
    expect(problemOf(() => checkOutputFile(report(files().at('no/report.json')), []))).toContain(
      'its folder does not exist',
    );
  });

  it('that is a folder is refused', () => {
    const path = files().at('reports');
    mkdirSync(path);
    expect(problemOf(() => checkOutputFile(report(path), []))).toContain('it is a folder');
  });

  it.each(['/dev/null/report.json', '/proc/nope/report.json'])('%s, where no file can be, is refused', (path) => {
    expect(problemOf(() => checkOutputFile(report(path), []))).toMatch(/folder/);
  });

  it('that is the file of another option is refused, also through a link', () => {
    const { at, write } = files();
    const path = write('policies.json', []);
    symlinkSync(path, at('link.json'));
    linkSync(path, at('hard.json'));
    for (const name of [
      path,
      at('../').concat(path.split('/').slice(-2).join('/')),
      at('link.json'),
      at('hard.json'),
    ]) {
      expect(problemOf(() => checkOutputFile(report(name, true), [['--policies', path]]))).toMatch(
        /is the file of --policies, which would be overwritten: name another\.$/,
      );
    }
  });

  it('that is also the ledger is refused before either file exists', () => {
    const { at } = files();
    symlinkSync(at('.'), at('here'));
    expect(problemOf(() => checkOutputFile(report(at('here/x.json')), [['--ledger', at('x.json')]]))).toContain(
      '--ledger',
    );
  });

  it('may be standard output', () => {
    expect(() => checkOutputFile(report('-'), [['--policies', '-']])).not.toThrow();
  });
});

describe('a file that exists already', () => {
  it.each([
    ['a report is replaced by a report', report, aReport, true],
    ['an empty file is replaced', report, '', true],
    ['a policies file is not replaced by a report', report, [{ entityType: 'dataset' }], false],
    ['a text is not replaced by a report', report, 'my notes', false],
    ['a policies file is not replaced by a survey', policies, [{ entityType: 'dataset' }], false],
    ['a report is not replaced by a survey', policies, aReport, false],
  ])('%s', (_name, file, content, replaced) => {
    const path = files().write('file.json', content);
    const before = readFileSync(path, 'utf8');
    if (replaced) {
      checkOutputFile(file(path), []);
      writeOutputFile(file(path), 'new');
      expect(readFileSync(path, 'utf8')).toBe('new');
      return;
    }
    expect(problemOf(() => checkOutputFile(file(path), []))).toMatch(
      /name another file, or add --force to replace it\.$/,
    );
    expect(() => writeOutputFile(file(path), 'new')).toThrow(WriteError);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('is replaced if that is asked for', () => {
    const path = files().write('file.json', 'my notes');
    checkOutputFile(policies(path, true), []);
    writeOutputFile(policies(path, true), '[]');
    expect(readFileSync(path, 'utf8')).toBe('[]');
  });

  it('keeps its link, and leaves nothing beside it', () => {
    const { at, write } = files();
    write('real.json', aReport);
    symlinkSync(at('real.json'), at('link.json'));
    writeOutputFile(report(at('link.json')), 'new');
    expect(readFileSync(at('real.json'), 'utf8')).toBe('new');
    expect(readdirSync(at('.')).sort()).toEqual(['link.json', 'real.json']);
  });
});

describe('what is written', () => {
  it('can be read by its owner only if it is a report, even if others could read the old one', () => {
    const { at, write } = files();
    const old = write('old.json', aReport);
    chmodSync(old, 0o644);
    for (const path of [old, at('new.json')]) {
      writeOutputFile(report(path), '{}');
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    writeOutputFile(policies(at('policies.json')), '[]');
    expect(statSync(at('policies.json')).mode & 0o400).toBe(0o400);
  });

  it('may also go to a device or a pipe', () => {
    expect(() => writeOutputFile(report('/dev/null'), '{}')).not.toThrow();
  });

  it('reports a full disk with what to do', () => {
    checkOutputFile(report('/dev/full'), []);
    expect(() => writeOutputFile(report('/dev/full'), '{}')).toThrow(
      '--json /dev/full was not written: the disk is full; free some space. Its content is shown above.',
    );
  });

  it('leaves the old file whole when it cannot be replaced', () => {
    const { write, at } = files();
    const path = write('file.json', aReport);
    // Someone has put something else there during the run.
    writeFileSync(path, 'my notes');
    expect(() => writeOutputFile(report(path), 'new')).toThrow(/was not written: the file exists/);
    expect(readFileSync(at('file.json'), 'utf8')).toBe('my notes');
  });
});
