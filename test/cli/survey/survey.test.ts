import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readPolicies } from '../../../cli/files/policies.ts';
import { readServer } from '../../../cli/files/server.ts';
import { sampleIndices } from '../../../cli/operations-service/samples.ts';
import { mayCount, surveyServer } from '../../../cli/survey/command.ts';
import { survey as surveyIndices } from '../../../cli/survey/count.ts';
import { damage } from '../../../cli/survey/damage.ts';
import { renderSurvey } from '../../../cli/survey/page.ts';
import { suggest } from '../../../cli/survey/suggestion.ts';
import type { Check } from '../../../lambda/facts/check.ts';
import type { ServerError } from '../../../lambda/facts/server-error.ts';
import { type DryRun, type Operations, OperationsError } from '../../../lambda/operations/operations.ts';
import { knownAspects } from '../../../lambda/policy/aspects.ts';
import { type ServiceOptions, startOperationsService } from '../../operations-service/server.ts';
import { type Finished, folder, page } from '../processes.ts';

const finished: Finished = (cleanUp) => onTestFinished(cleanUp);

async function service(options: ServiceOptions = {}) {
  const started = await startOperationsService({ indices: sampleIndices(2000), ...options });
  onTestFinished(() => started.close());
  return started;
}

interface Surveyed {
  status: number;
  text: string;
  jsonPath: string;
}

const command = { program: 'npm start --', options: '--gms-url URL' };

/** Surveys and returns what is printed; in `text`, line breaks inside a paragraph are spaces. */
async function survey(
  gmsUrl: string,
  token: string,
  width = 100,
  jsonPath = folder(finished).at('policies.json'),
): Promise<Surveyed & { lines: string[] }> {
  const { output, text } = page(width);
  const json = { path: jsonPath, holds: 'policies', force: false } as const;
  const status = await surveyServer(readServer({ gmsUrl, token: { kind: 'text', text: token } }, {}), output, {
    json,
    command,
  });
  const written = text();
  return { status, text: written.replace(/\s*\n\s+/g, ' ').replace(/ +/g, ' '), lines: written.split('\n'), jsonPath };
}

const writtenBy = ({ jsonPath }: Surveyed): unknown => JSON.parse(readFileSync(jsonPath, 'utf8'));
const days = (count: number) => Date.now() - count * 86_400_000;
const evenly = (from: number, to: number, rows: number) =>
  Array.from({ length: rows }, (_, row) => days(from + ((to - from) * row) / rows));

describe('an index that hangs', () => {
  const error: ServerError = { kind: 'timeout', operation: 'dry-run', tries: 2 };

  it('does not keep the others from being counted, and is named at the end of the survey', async () => {
    const hanging: Pick<Operations, 'dryRun'> = {
      dryRun: async ({ aspect }) => {
        if (aspect === 'operation') throw new OperationsError(error);
        return { strategy: 'delete-by-query', rowsTotal: 100, rowsToDelete: 40 } as DryRun;
      },
    };
    const found = await surveyIndices(hanging as Operations, undefined, Date.now());
    expect(found.indices.filter(({ counts }) => counts.kind === 'counted')).toHaveLength(knownAspects.length - 1);
    expect(renderSurvey(found, 200, Date.now()).at(-1)).toMatch(/^Not counted: dataset\.operation: /);
  });

  it('does not keep the others from being counted if the preflight meets it first, as a missing privilege does', () => {
    const check = (cause: Check['cause']): Check => ({ name: 'Truncation', state: 'failed', cause });
    expect(mayCount({ canCount: false, checks: [check({ kind: 'refused', error })] })).toBe(true);
    const denied = check({ kind: 'refused', error: { kind: 'privilege', operation: 'dry-run' } });
    expect(mayCount({ canCount: false, checks: [denied] })).toBe(false);
  });
});

describe('the survey of a server where everything is allowed', () => {
  it('changes nothing: every truncate is a dry run', async () => {
    const { url, token, engine } = await service();
    const { status } = await survey(url, token);
    expect(status).toBe(0);
    const truncates = engine.asked.filter(({ action }) => action === 'truncateTimeseriesAspect');
    expect(truncates.length).toBeGreaterThan(40);
    expect(new Set(truncates.map(({ body }) => (body as { dryRun?: boolean }).dryRun))).toEqual(new Set([true]));
  });

  it('says of each index its rows, size, share older than each age, and what would remain', async () => {
    const timestamps = [...evenly(1, 29, 60), ...evenly(31, 89, 20), ...evenly(181, 360, 10), ...evenly(366, 400, 10)];
    const { url, token } = await service({ indices: [{ entityType: 'dataset', aspect: 'operation', timestamps }] });
    const { text } = await survey(url, token);
    expect(text).toMatch(
      /dataset\.operation 100 [\d.]+ [KM]B 40\.0 % 20\.0 % 20\.0 % 10\.0 % would remain 60 80 80 90/,
    );
  });

  it('estimates the disk space next to the rows, for each index and in all, and says that it is an estimate', async () => {
    const { url, token } = await service({ indices: sampleIndices() });
    for (const width of [100, 60]) {
      const { lines } = await survey(url, token, width);
      const text = lines.join(' ').replace(/ +/g, ' ');
      expect(text).toContain(
        'With them a first run would delete 153,007 of 457,800 rows (33.4 %) and free about 64.3 MB.',
      );
      expect(text).toContain(
        'Disk space is estimated (rows × average size of a row); it comes back when the search engine merges.',
      );
      const freed = lines.filter((line) => /would free, about|frees about/.test(line));
      // Eight indices, and four ages of each.
      expect(freed).toHaveLength(width === 100 ? 8 : 32);
    }
    const { text } = await survey(url, token);
    expect(text).toMatch(/would remain 18\.1 K 54\.2 K 108 K 220 K would free, about 84\.8 MB 69\.6 MB 46\.8 MB 0 B/);
  });

  it('fits 100 columns, and a narrow terminal', async () => {
    const { url, token } = await service({ indices: sampleIndices() });
    for (const width of [100, 60]) {
      const { lines } = await survey(url, token, width);
      const long = lines.filter((line) => line.length > width && !line.includes('/') && !line.includes('DATAHUB_GC'));
      expect(long).toEqual([]);
    }
  });

  it('writes a policies file that runs as it is', async () => {
    const { url, token } = await service();
    const surveyed = await survey(url, token);
    const policies = writtenBy(surveyed) as Array<{ aspect: string }>;
    expect(policies).toHaveLength(9);
    expect(readPolicies(surveyed.jsonPath, 7)).toHaveLength(1);
  });

  it('gives the reason for each policy in its note, which messages show beside the index', async () => {
    const { url, token } = await service({ indices: sampleIndices(22_000) });
    const surveyed = await survey(url, token);
    const policies = writtenBy(surveyed) as Array<{ entityType: string; aspect: string; note: string }>;
    for (const { entityType, aspect, note } of policies) {
      expect(surveyed.text).toContain(`- ${entityType}.${aspect}: ${note}`);
      expect(note).not.toContain('above');
    }
    expect(policies[0]?.note).toMatch(/^180 days, because 50\.\d % of its rows/);
  });

  it('does not overwrite a file that appeared meanwhile, and ends with status 1', async () => {
    const { url, token } = await service();
    const jsonPath = folder(finished).write('policies.json', 'mine');
    const { status, text } = await survey(url, token, 100, jsonPath);
    expect(status).toBe(1);
    expect(text).toContain('was not written: the file exists');
    expect(readFileSync(jsonPath, 'utf8')).toBe('mine');
  });

  it('prints how far the counting is, unless it takes no time', async () => {
    const { url, token } = await service();
    const counted: number[][] = [];
    const { output } = page();
    const server = readServer({ gmsUrl: url, token: { kind: 'text', text: token } }, {});
    await surveyServer(server, { ...output, counted: (...numbers) => void counted.push(numbers) }, { command });
    expect(counted).toEqual(Array.from({ length: 11 }, (_, done) => [done, 10]));
    expect((await survey(url, token)).text).not.toContain('indices counted');
  });

  it('suggests no longer retention than the example stage if the newest row is the current state', async () => {
    const timestamps = evenly(1, 360, 100);
    const example = JSON.parse(readFileSync(new URL('../../../infra/stages/example.json', import.meta.url), 'utf8'));
    const policies: Array<{ entityType: string; aspect: string; retentionDays: number }> = example.policies;
    const indices = policies.map(({ entityType, aspect }) => ({ entityType, aspect, timestamps }));
    const { url, token } = await service({ indices });
    const suggested = writtenBy(await survey(url, token)) as typeof policies;
    const asState = suggested.filter(({ retentionDays }) => retentionDays === 365);
    expect(asState.map(({ aspect }) => aspect).sort()).toEqual([
      'assertionRunEvent',
      'dataProcessInstanceRunEvent',
      'datasetProfile',
    ]);
    expect(policies).toEqual(
      expect.arrayContaining(asState.map(({ aspect }) => expect.objectContaining({ aspect, retentionDays: 365 }))),
    );
  });

  it('leaves the state of stateful ingestion out and says why', async () => {
    const { url, token } = await service();
    const surveyed = await survey(url, token);
    expect(surveyed.text).toContain('datahubIngestionCheckpoint is the state of stateful ingestion');
    expect(JSON.stringify(writtenBy(surveyed))).not.toContain('Checkpoint');
  });

  it('names the largest index', async () => {
    const { url, token } = await service();
    expect((await survey(url, token)).text).toContain('The largest index is dataset.datasetUsageStatistics');
  });

  it.each([
    ['the longest age from which a truncation is worth it', evenly(1, 150, 100), 90],
    ['365 days where nothing is worth it', evenly(1, 80, 100), 365],
    ['365 days where that is worth it', evenly(1, 500, 100), 365],
  ])('suggests %s', async (_name, timestamps, retentionDays) => {
    const { url, token } = await service({ indices: [{ entityType: 'dataset', aspect: 'operation', timestamps }] });
    expect(writtenBy(await survey(url, token))).toMatchObject([{ aspect: 'operation', retentionDays }]);
  });

  it('suggests a year if the newest row is the current state', async () => {
    const timestamps = evenly(1, 200, 100);
    const { url, token } = await service({
      indices: [{ entityType: 'dataset', aspect: 'datasetProfile', timestamps }],
    });
    expect(writtenBy(await survey(url, token))).toMatchObject([{ aspect: 'datasetProfile', retentionDays: 365 }]);
  });
});

describe('the survey notices', () => {
  it('that another job already deletes at 30 days, and how to stop it', async () => {
    const timestamps = evenly(0, 30.5, 1000);
    const { url, token } = await service({ indices: [{ entityType: 'dataset', aspect: 'operation', timestamps }] });
    const surveyed = await survey(url, token);
    expect(surveyed.text).toContain('Something else already cuts at 30 days: dataset.operation');
    expect(surveyed.text).toContain('datahub-gc');
    expect(surveyed.text).toContain('truncate_indices: false');
    expect(writtenBy(surveyed)).toMatchObject([{ enabled: false }]);
  });

  it.each([
    ['a young one', evenly(0, 20, 100)],
    ['one that reaches back further', evenly(0, 33, 100)],
  ])('no other job that deletes at 30 days in %s', async (_name, timestamps) => {
    const { url, token } = await service({ indices: [{ entityType: 'dataset', aspect: 'operation', timestamps }] });
    expect((await survey(url, token)).text).not.toContain('Something else');
  });

  it('an index whose copy failed after the alias had moved, and that only new rows fill again', async () => {
    let now = days(5);
    const indices = [{ entityType: 'dataset', aspect: 'operation', rows: 500, days: 100 }];
    const { url, token, engine } = await service({ clock: { now: () => now }, profile: '1.2-1.5', indices });
    engine.truncateByOthers('dataset.operation', { endTimeMillis: days(30), dryRun: false, forceReindex: true });
    now = Date.now();
    engine.addRows('dataset.operation', evenly(0, 4, 50));
    engine.refresh();
    const { text } = await survey(url, token);
    expect(text).toContain('Look at this first: an index may have lost its rows.');
    expect(text).toMatch(/- dataset\.operation: 50 rows in dataset_operationaspect_v1_\d{13}, made 5 days ago/);
    expect(text).toContain('GET /_cat/indices/dataset_operationaspect_v1*');
  });

  it('first of all that datahub-gc emptied five indices minutes ago, and where their rows are', async () => {
    let now = Date.now() - 600_000;
    const { url, token, engine } = await service({ clock: { now: () => now }, profile: '0.13.2-1.1' });
    const touched = engine.runGc();
    now = Date.now();
    const surveyed = await survey(url, token);
    expect(touched.length).toBe(5);
    expect(surveyed.text).toContain('Look at this first: 5 indices may have lost their rows.');
    const atFirst = surveyed.text.indexOf('Look at this first');
    expect(atFirst).toBeLessThan(surveyed.text.indexOf('Rows older than'));
    for (const name of touched) {
      expect(surveyed.text).toMatch(new RegExp(`- ${name}: no row in \\S+, made\\s10 min ago`));
      expect(surveyed.text).toContain(`${name}: switched off until it is known whether it has lost rows`);
    }
    expect(surveyed.text).not.toContain('too little older than 90 days to be worth it yet.- dataset.operation');
    const policies = writtenBy(surveyed) as Array<{ entityType: string; aspect: string; enabled?: boolean }>;
    const off = policies.filter(({ enabled }) => enabled === false).map((one) => `${one.entityType}.${one.aspect}`);
    expect(off.sort()).toEqual([...touched].sort());
  });

  it.each([
    ['an aspect that nobody uses, whose index an upgrade made anew a week ago', 0, { at: days(7), rowsBefore: 0 }],
    [
      'an index that is kept at ten days, made anew 40 days ago',
      100,
      { at: days(40), rowsBefore: 0, rowsSoonAfter: 0 },
    ],
    ['an index with rows from before it was made', 100, { at: days(5), rowsBefore: 90 }],
    ['an index that was made too long ago', 100, { at: days(61), rowsBefore: 0, rowsSoonAfter: 9 }],
    ['an index whose name has no time', 0, undefined],
  ])('no loss in %s', (_name, rowsTotal, made) => {
    const older = { 30: 0, 90: 0, 180: 0, 365: 0 };
    const counts = { kind: 'counted' as const, rowsTotal, older, ignoresForce: false, ...(made && { made }) };
    const index = { entityType: 'dataset', aspect: 'operation', protected: false, counts };
    expect(damage({ indices: [index], unnamed: [] }, Date.now())).toEqual([]);
  });

  it('a first night that would be too big, and suggests bites', () => {
    const older = { 30: 40e6, 90: 33e6, 180: 31e6, 365: 2e6 };
    const counts = { kind: 'counted' as const, rowsTotal: 50e6, older, ignoresForce: false };
    const index = { entityType: 'dataset', aspect: 'operation', protected: false, counts };
    const [suggestion] = suggest({ indices: [index], unnamed: [] }, Date.now());
    expect(suggestion).toMatchObject({
      policy: { retentionDays: 180, maxRowsPerRun: 5_000_000 },
      why: expect.stringContaining('about 7 nights'),
    });
    const [old] = suggest(
      { indices: [{ ...index, counts: { ...counts, ignoresForce: true } }], unnamed: [] },
      Date.now(),
    );
    expect(old!.policy).not.toHaveProperty('maxRowsPerRun');
  });

  it('a server that reindexes although it is asked to delete in place', async () => {
    const { url, token } = await service({ profile: '0.10.5' });
    expect((await survey(url, token)).text).toContain('would reindex although it is asked to delete in place');
  });

  it('a server that returns one size for everything, and tries the known aspects', async () => {
    const { url, token } = await service({ profile: 'postgres' });
    const { text } = await survey(url, token);
    expect(text).toContain('only reports the size of its store');
    expect(text).toContain('dataset.datasetUsageStatistics');
  });
});

describe('the survey says what is wrong and what to do, with status 1, of', () => {
  const jwt = (expiresAt: number) =>
    ['{}', JSON.stringify({ exp: Math.floor(expiresAt / 1000) }), 'x']
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.');

  it.each([
    ['refused sizes', ['denied=sizes'], 'FAILED Sizes', 'Get Timeseries index sizes API'],
    [
      'refused sizes of an old server',
      ['denied=sizes', 'denied-status=401'],
      'FAILED Sizes',
      'Get Timeseries index sizes API',
    ],
    ['refused truncation', ['denied=truncate'], 'FAILED Truncation', 'Truncate timeseries aspect index size API'],
    ['refused task status', ['denied=status'], 'FAILED Task status', 'Get ES task status API'],
    ['a login page', ['login-page'], 'FAILED Address', 'https://host/api/gms'],
    ['a redirect to a login page', ['login-redirect'], 'FAILED Address', 'https://host/api/gms'],
    ['a frontend at the wrong path', ['frontend'], 'FAILED Address', 'https://host/api/gms'],
    ['a clock that is an hour off', ['clock-skew=3600'], 'FAILED Clock', 'NTP'],
  ])('%s', async (_name, faults, problem, remedy) => {
    const { url, token } = await service({ faults });
    const { status, text } = await survey(url, token);
    expect(status).toBe(1);
    expect(text).toContain(problem);
    expect(text).toContain(remedy);
  });

  it('refused sizes, and still counts every known aspect that the server has', async () => {
    const { url, token } = await service({ faults: ['denied=sizes'] });
    const surveyed = await survey(url, token);
    expect(surveyed.text).toContain('dataset.datasetUsageStatistics 2.0 K');
    expect(writtenBy(surveyed)).toHaveLength(9);
  });

  it('refused truncation, and still lists the sizes; no policies file is written', async () => {
    const { url, token } = await service({ faults: ['denied=truncate'] });
    const surveyed = await survey(url, token);
    expect(surveyed.text).toMatch(/dataset_datasetusagestatisticsaspect_v1\S* [\d.]+ [KM]B/);
    expect(surveyed.text).toContain('was not written');
    expect(() => writtenBy(surveyed)).toThrow('ENOENT');
  });

  it('an expired token', async () => {
    const { url } = await service({ token: 'another' });
    const { status, text } = await survey(url, jwt(days(3)));
    expect(status).toBe(1);
    expect(text).toContain('FAILED Token expired 3 days ago');
    expect(text).toContain('Settings > Access Tokens');
  });

  it('a token that the server refuses', async () => {
    const { url } = await service();
    const { status, text } = await survey(url, 'another-token');
    expect(status).toBe(1);
    expect(text).toContain('FAILED Token');
    expect(text).not.toContain('another-token');
  });

  it('a server that cannot be reached', async () => {
    const { status, text } = await survey(`http://127.0.0.1:${await freePort()}`, 'any');
    expect(status).toBe(1);
    expect(text).toContain('FAILED Connection');
    expect(text).toContain('kubectl port-forward');
  });

  it('a name that does not resolve', async () => {
    const { status, text } = await survey('http://gms.invalid:8080', 'any');
    expect(status).toBe(1);
    expect(text).toContain('FAILED DNS');
  });
});

describe('the survey announces', () => {
  it('a token that expires within two weeks, with status 0', async () => {
    const token = `e30.${Buffer.from(JSON.stringify({ exp: Math.floor(days(-5) / 1000) })).toString('base64url')}.x`;
    const { url } = await service({ token });
    const { status, text } = await survey(url, token);
    expect(status).toBe(0);
    expect(text).toMatch(/note Token expires in [45] days/);
  });
});

/** A port on which nothing is listening. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
