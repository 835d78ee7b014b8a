import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HistoryArguments } from '../../../cli/command-line/arguments.ts';
import { parseArguments } from '../../../cli/command-line/arguments.ts';
import { UsageError } from '../../../cli/command-line/usage-error.ts';
import { defaultLedgerPath, nightsPath } from '../../../cli/files/ledger-path.ts';
import { history } from '../../../cli/history/command.ts';
import { demoNights } from '../../../cli/run/demo-nights.ts';
import { dayMillis } from '../../../lambda/facts/limits.ts';
import { fileNights } from '../../../lambda/memory/file.ts';
import type { Night } from '../../../lambda/memory/night.ts';
import { folder } from '../processes.ts';

const operation = 'dataset_operationaspect_v1';
const profile = 'dataset_datasetprofileaspect_v1';
/** The time this many days ago. */
const now = Date.now();
const at = (days: number) => new Date(now - days * dayMillis).toISOString();
const aNight = (days: number, rows: number, more: Partial<Night> = {}): Night => ({
  index: operation,
  night: at(days),
  rows,
  overdue: 10,
  mb: 4.2,
  ...more,
});

/** A ledger with these nights next to it, and what `history` prints for it. */
async function remembered(nights: readonly Night[]) {
  const files = folder((cleanUp) => onTestFinished(cleanUp));
  const ledger = files.at('in-flight.json');
  for (const night of nights) await fileNights(nightsPath(ledger)).write(night);
  const ask = (args: readonly string[] = [], width = 100) => printed(['--ledger', ledger, ...args], width);
  return { ...files, ledger, ask };
}

async function printed(args: readonly string[], width = 100, env: NodeJS.ProcessEnv = {}) {
  let text = '';
  const asked = parseArguments(['history', ...args], {}) as HistoryArguments;
  const write = (more: string) => {
    text += more;
  };
  const status = await history(asked, { width, write }, env);
  return { status, text };
}

describe('history', () => {
  it('shows every index with its line, the largest first', async () => {
    const { ask } = await remembered([
      aNight(2, 1000),
      aNight(1, 2000, { deleted: 500, outcome: 'truncated' }),
      aNight(0, 1500),
      aNight(0, 9000, { index: profile }),
    ]);
    const { status, text } = await ask();
    expect(status).toBe(0);
    expect(text).toMatch(/^3 nights of 2 indices, /m);
    expect(text).toMatch(/^dataset\.datasetProfile +1 +9\.0 K +10 +4\.2 MB +0 {4}█$/m);
    expect(text).toMatch(/^dataset\.operation +3 +1\.5 K +10 +4\.2 MB +500 {2}▅█▇$/m);
    expect(text.indexOf('datasetProfile')).toBeLessThan(text.indexOf('dataset.operation'));
  });

  it('shows one index night by night, however its name is capitalised', async () => {
    const { ask } = await remembered([
      aNight(1, 2000, { deleted: 500, outcome: 'truncated' }),
      aNight(0, 1500),
      aNight(0, 1, { index: profile }),
    ]);
    const { text } = await ask(['Dataset.Operation']);
    expect(text).toMatch(/^dataset\.operation: 2 nights, /m);
    expect(text).toMatch(/ +2,000 +10 +4\.2 MB +500 +4\.2 MB {2}truncated$/m);
    expect(text).not.toContain('datasetProfile');
  });

  it('breaks its columns into lines on a narrow screen', async () => {
    const { text } = await (await remembered([aNight(1, 1000), aNight(0, 2000)])).ask([], 55);
    expect(text).toMatch(/^dataset\.operation +2 +2\.0 K +10 +4\.2 MB +0$/m);
    expect(text).toMatch(/^ {2}▅█$/m);
  });

  it.each([60, 70, 80, 100, 140])('keeps within %i columns, even with the largest numbers', async (width) => {
    const long = 'dataprocessinstance_dataprocessinstanceruneventaspect_v1';
    const much = { deleted: 45_678_901, overdue: 45_678_901, mb: 123_456.7, mbLeft: 98_765.4 };
    const { ask } = await remembered(
      Array.from({ length: 70 }, (_, days) =>
        aNight(70 - days, 123_456_789, { index: long, outcome: 'rows-missing', ...much }),
      ),
    );
    for (const args of [[], ['dataProcessInstance.dataProcessInstanceRunEvent']]) {
      const lines = (await ask(args, width)).text.split('\n').filter((line) => !line.startsWith('Memory  '));
      expect(lines.filter((line) => line.length > width)).toEqual([]);
      expect(lines.join('\n')).toContain('dataProcessInstance.dataProcessInstanceRunEvent');
    }
  });

  it('shows the rows that the last deletion left, not those before it', async () => {
    const { ask, at: path } = await remembered([
      aNight(1, 9000, { overdue: 1000, mb: 9 }),
      aNight(0, 9000, { overdue: 8000, mb: 9, deleted: 8000, rowsLeft: 1000, mbLeft: 1.5, outcome: 'truncated' }),
    ]);
    expect((await ask()).text).toMatch(/^dataset\.operation +2 +1\.0 K +0 +1\.5 MB +8\.0 K /m);
    const { text } = await ask(['dataset.operation', '--html', path('h.html')]);
    expect(text).toMatch(/^ {2}Rows +1\.0 K {2}██$/m);
    expect(text).toMatch(/^ {2}Past retention +0 {2}/m);
    expect(text).toMatch(/^ {2}Size +1\.5 MB {2}/m);
    expect(readFileSync(path('h.html'), 'utf8')).toMatch(/rows after the last night.{0,80}1,000/s);
  });

  it('shows the size that a deletion left: a smaller one, if the next night found that', async () => {
    const went = { deleted: 500, mb: 9, mbLeft: 8, outcome: 'truncated' } as const;
    const { ask } = await remembered([aNight(2, 1000, went), aNight(1, 900, { mb: 3 }), aNight(0, 900, went)]);
    const { text } = await ask(['dataset.operation']);
    const rows = text.split('\n').filter((line) => line.startsWith('20'));
    expect(rows.map((line) => line.split(/ {2,}/).slice(-3, -1))).toEqual([
      ['500', '8.0 MB'],
      ['-', '-'],
      ['500', '3.0 MB'],
    ]);
  });

  it('says when nothing is remembered, and which runs do remember', async () => {
    const { status, text } = await (await remembered([])).ask();
    expect([status, text]).toEqual([0, expect.stringMatching(/^No night is remembered in .*Runs that enforce/s)]);
  });

  it('draws no page without nights, and says so', async () => {
    const { ask, at: path } = await remembered([]);
    const { status, text } = await ask(['--html', path('h.html')]);
    expect([status, text]).toEqual([0, expect.stringContaining('There is no page to draw: ')]);
    expect(existsSync(path('h.html'))).toBe(false);
  });

  it('finds the nights of sample data, until a run has enforced something elsewhere', async () => {
    const files = folder((cleanUp) => onTestFinished(cleanUp));
    const env = { XDG_STATE_HOME: files.at('.') };
    await demoNights(env).write(aNight(0, 90_000));
    const { text } = await printed(['dataset.operation'], 100, env);
    expect(text).toContain('These are nights of sample data');
    expect(text).toContain('90,000');
    await fileNights(nightsPath(defaultLedgerPath(env, false))).write(aNight(0, 77_000));
    const { text: own } = await printed([], 100, env);
    expect(own).not.toContain('sample');
    expect(own).toContain('77.0 K');
  });

  it('asks which index was meant', async () => {
    const { ask } = await remembered([aNight(0, 1)]);
    await expect(ask(['dataset.operatoin'])).rejects.toThrow(/did you mean dataset\.operation\?$/);
    await expect(ask(['chart.other'])).rejects.toThrow(UsageError);
  });

  it('writes the nights as JSON, and replaces its own file only', async () => {
    const { ask, at: path, write } = await remembered([aNight(1, 1000), aNight(0, 2000)]);
    for (const _ of [1, 2]) expect((await ask(['--json', path('h.json')])).text).toContain('The history is in ');
    const written = JSON.parse(readFileSync(path('h.json'), 'utf8'));
    expect(written).toMatchObject({ version: 1, indices: [{ index: operation, name: 'dataset.operation' }] });
    expect(written.indices[0].nights.map(({ rows }: Night) => rows)).toEqual([1000, 2000]);
    await expect(ask(['--json', write('notes.json', ['mine'])])).rejects.toThrow(/is no history of this program/);
  });

  it('draws a page', async () => {
    const { ask, at: path } = await remembered([aNight(1, 1000), aNight(0, 2000)]);
    expect((await ask(['--html', path('h.html')])).status).toBe(0);
    expect(readFileSync(path('h.html'), 'utf8')).toContain('dataset.operation: rows, night by night');
  });

  it('never writes over the memory that it reads', async () => {
    const { ask, ledger } = await remembered([aNight(0, 1)]);
    for (const option of ['--json', '--html']) {
      await expect(ask([option, nightsPath(ledger), '--force'])).rejects.toThrow(/is the file of --ledger/);
    }
  });

  it('ignores lines of the file that are not nights', async () => {
    const { ask, ledger } = await remembered([aNight(0, 1)]);
    const path = nightsPath(ledger);
    writeFileSync(path, `${readFileSync(path, 'utf8')}\n{"index":\nnonsense\n`);
    expect((await ask()).text).toMatch(/^1 night of 1 index, /m);
  });
});

describe('the command line of history', () => {
  it.each([
    ['history --stage prod --ledger x', /name different memories/],
    ['history --stage Prod!', /^--stage Prod!: a stage has at most 20 lower-case letters/],
    ['history --html -', /^--html needs a file/],
    ['history --force', /^--force needs --json FILE or --html FILE/],
    ['history dataset', /It takes one index as entityType\.aspect/],
    ['history a.b c.d', /history takes fewer words/],
  ])('%s is refused', (line, problem) => {
    expect(() => parseArguments(line.split(' '), {})).toThrow(problem);
  });

  it('has a help of its own', () => {
    const asked = parseArguments(['history', '--help'], {});
    expect(asked).toMatchObject({
      kind: 'print',
      text: expect.stringContaining('npm start -- history [INDEX] [options]'),
    });
  });
});
