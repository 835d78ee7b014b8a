import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Survey } from '../../../cli/events/findings.ts';
import { readPolicies } from '../../../cli/inputs/policies.ts';
import { surveyPage } from '../../../cli/outputs/pages/survey-page.ts';
import { surveyLines } from '../../../cli/outputs/screen/survey.ts';
import { countIndices } from '../../../cli/survey/count.ts';
import { damageLines } from '../../../cli/survey/damage.ts';
import { hints, type OwnTruncations, ownTruncations } from '../../../cli/survey/hints.ts';
import { firstRunGain, suggest } from '../../../cli/survey/suggestion.ts';
import { OperationsError } from '../../../lambda/gms/operations.ts';
import { anAttempt, aQuarantined } from '../../support/records.ts';
import { operation, runHere, serviceHere } from '../here.ts';
import { days, evenly, only, survey, surveyed } from './surveyed.ts';

const older = { 30: 0, 90: 0, 180: 0, 365: 0 };
const surveyOf = (counts: Record<string, unknown>): Survey => ({
  indices: [
    {
      entityType: 'dataset',
      aspect: 'operation',
      protected: false,
      counts: { kind: 'counted', older, reindexes: false, ...counts } as Survey['indices'][number]['counts'],
    },
  ],
  unnamed: [],
});

describe('A survey', () => {
  test('changes nothing: every truncate is a dry run', async () => {
    const { status, sent, engine } = await surveyed();
    expect([status, sent()]).toEqual([0, []]);
    expect(engine.asked.filter(({ path }) => path.includes('truncateTimeseriesAspect')).length).toBeGreaterThan(20);
  });

  test('says of each index its rows, and the shares that are older than each age', async () => {
    const timestamps = [...evenly(1, 29, 60), ...evenly(31, 89, 20), ...evenly(181, 360, 10), ...evenly(366, 400, 10)];
    const { text } = await surveyed(only(timestamps));
    expect(text).toMatch(/dataset\.operation 100 .*40 % 20 % 20 % 10 % would remain 60 80 80 90/);
  });

  test('writes policies that run as they are, without a sentence that would be printed for years', async () => {
    const { policies, files } = await surveyed();
    expect(policies.length).toBeGreaterThan(5);
    expect(readPolicies(files.at('p.json')).names).toHaveLength(policies.length);
    for (const policy of policies) expect(policy).not.toHaveProperty('note');
  });

  test('suggests no more policies than a run takes, and no name that it refuses', async () => {
    const named = (entityType: string) => ({ entityType, aspect: 'usage', timestamps: evenly(1, 500, 100) });
    const custom = Array.from({ length: 49 }, (_, at) => named(`custom${at}`));
    const { text, files } = await surveyed({ indices: [named('größe'), ...custom] });
    expect(readPolicies(files.at('p.json')).names).toHaveLength(48);
    expect(text).toContain('No policy is suggested for 2 indices: a run takes at most 48');
  });

  test('leaves the state of stateful ingestion out, and says why', async () => {
    const { text, policies } = await surveyed();
    expect(text).toContain('datahubIngestionCheckpoint is the state of stateful ingestion');
    expect(JSON.stringify(policies)).not.toContain('Checkpoint');
  });

  test.each([
    ['a year where the history is shorter, which may be what a truncation has left', evenly(1, 150, 100), 365],
    ['less where the history is longer, and that is worth it', [...evenly(1, 300, 95), ...evenly(366, 500, 5)], 180],
    ['365 days where nothing is worth it', evenly(1, 80, 100), 365],
    ['365 days where that is worth it', evenly(1, 500, 100), 365],
    ['a year where the newest row of an entity is what its page shows', evenly(1, 400, 100), 365, 'datasetProfile'],
  ])('suggests %s', async (_, timestamps, retentionDays, aspect = 'operation') => {
    const indices = [{ entityType: 'dataset', aspect, timestamps }];
    expect((await surveyed({ indices })).policies).toMatchObject([{ aspect, retentionDays }]);
  });

  test('does not replace a file that is not ours, and ends with status 2 before it asks anything', async () => {
    const { server, files, engine } = await serviceHere();
    const { status, stderr } = await runHere(['survey', ...server, '--json', files.write('mine', 'mine')]);
    expect([status, stderr, engine.asked]).toEqual([2, expect.stringContaining('--force'), []]);
    expect(readFileSync(files.at('mine'), 'utf8')).toBe('mine');
  });

  test('writes one page without anything from elsewhere, in which names are text', async () => {
    const { status, page } = await surveyed({}, '--name', '<b>us</b> & co');
    expect(status).toBe(0);
    expect(page).toMatch(/^<!doctype html>/i);
    expect(page).toContain('&#60;b&#62;us&#60;/b&#62; &#38; co');
    expect(page).not.toMatch(/<b>us|<script|(?:src|href)="https?:|@import|url\(/);
    const open = [...page.matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)].filter(
      ([, , name, self]) => !self && !/^(meta|wbr)$/.test(name!),
    );
    expect(open.filter(([, close]) => !close)).toHaveLength(open.filter(([, close]) => close).length);
  });

  test.each<[string, number[], RegExp, RegExp | undefined]>([
    ['rows that a first run would delete', evenly(1, 500, 100), /<b>\d\d<\/b> would be deleted \(/, undefined],
    [
      'rows past the retention that are too few',
      [...evenly(1, 80, 95), ...evenly(400, 500, 5)],
      /<span><span class="stay"><b>100<\/b> stay/,
      /<b>5<\/b> past the retention \(5 %\) would stay: they are less than 10 %/,
    ],
    [
      'rows past the retention that are all there are',
      evenly(400, 500, 100),
      /<b>100<\/b> stay/,
      /<b>100<\/b> past the retention \(100 %\) would stay: they are all its rows, and a person has to approve/,
    ],
    ['the only row', [days(400)], /<h1>1 index, 1 row, /, /they are all its rows/],
  ])('its page draws %s as such, with their number and the reason', async (_, timestamps, number, reason) => {
    const { page } = await surveyed(only(timestamps));
    const bars = page.slice(page.indexOf('<h1>'), page.indexOf('class="legend"'));
    expect(bars).toMatch(number);
    expect([/class="g"/.test(bars), /class="w"/.test(bars)]).toEqual([reason === undefined, reason !== undefined]);
    if (reason) expect(page).toMatch(reason);
    // What must be known first stands first.
    expect(page.indexOf('id="to-know"')).toBeLessThan(page.indexOf('id="all"'));
  });
});

test('What the ledger says of a quarantined index is said, and its counts suggest nothing', () => {
  const own = ownTruncations([aQuarantined({ attempt: anAttempt({ retentionDays: 90 }) })]);
  const all = surveyOf({ rowsTotal: 10 });
  expect(hints(all, own, false).join('\n')).toMatch(
    /dataset\.operation is QUARANTINED since .*\(rows-missing, 30 rows missing\)/,
  );
  expect(hints(all, own, false).join('\n')).not.toContain('This job has truncated');
  expect(suggest(all, own, { now: 0 })[0]?.why).toMatch(/90 days, as before: .* quarantined \(rows-missing\)/);
});

test('A survey asks a server that has not answered twice in a row nothing more', async () => {
  const told = async (answers: readonly boolean[]) => {
    let asked = 0;
    const left: number[] = [];
    const dryRun = async () => {
      if (answers[asked++ % answers.length]) return { rowsToDelete: 0, rowsTotal: 0, method: 'delete' as const };
      throw new OperationsError({ kind: 'timeout', operation: 'dry-run' });
    };
    const { stopped } = await countIndices(dryRun, [], new Map(), 0, (done, of) => left.push(of - done));
    return [stopped?.kind, asked < 10, left.at(-1) === 0];
  };
  expect(await told([false])).toEqual(['timeout', true, false]);
  expect(await told([true])).toEqual([undefined, false, true]);
  expect(await told([...Array(9).fill(true), false])).toEqual([undefined, false, true]);
});

test('says how long the first truncation of a large index takes, and which space it needs', () => {
  const of = (rows: number, reindexes = false) => {
    const older = { 7: rows, 30: rows, 90: rows * 0.8, 180: 0, 365: 0 };
    const counts = { kind: 'counted', rowsTotal: rows, older, reindexes } as const;
    const index = { entityType: 'dataset', aspect: 'operation', protected: false, sizeMb: 20_000, counts };
    return hints({ indices: [index], unnamed: [] }, new Map(), false).join('\n');
  };
  expect(of(500_000_000)).toMatch(/takes 6 h 44 min to 4 d 15 h, at 16,500 to 1,000 rows a second .* size free, 30 GB/);
  expect(of(9_000_000)).not.toContain('rows a second');
  // A reindex writes the rows to keep, and the old index stays.
  expect(of(9_000_000, true)).toMatch(/takes 4 GB beside the 20 GB of the old one, .* 85 % .* 90 % .* 95 %/);
  expect(of(500_000_000, true)).not.toContain('rows a second');
  expect(of(9_000_000)).not.toContain('85 %');
});

describe('A survey notices', () => {
  test.each([
    [20, undefined],
    [30.5, false],
    [33, undefined],
  ])('something else that cuts at 30 days, and how to stop it, if rows reach back %d days', async (reach, enabled) => {
    const { text, policies } = await surveyed(only(evenly(0, reach, 1000)));
    const isSaid = /Something else already cuts at 30 days: dataset\.operation .* truncate_indices: false/.test(text);
    expect([isSaid, policies[0]?.enabled]).toEqual([enabled === false, enabled]);
  });

  test('what this job has truncated itself, without blaming other tools', async () => {
    const here = await serviceHere(only(evenly(0, 60, 2000)));
    await runHere(here.run('enforce', [{ ...operation, retentionDays: 30 }]));
    const { text, policies } = await survey(here);
    expect(text).toMatch(/This job has truncated dataset\.operation \(/);
    expect(text).not.toContain('Something else');
    expect(policies).toMatchObject([expect.not.objectContaining({ enabled: false })]);
  });

  test('first of all the indices that datahub-gc has emptied, and where their rows are', async () => {
    let now = Date.now() - 600_000;
    const here = await serviceHere({ clock: { now: () => now }, profile: '0.13.2-1.1' });
    const touched = here.engine.runGc();
    now = Date.now();
    const { stdout, policies } = await survey(here);
    expect(touched).toHaveLength(5);
    expect(stdout).toMatch(
      /^Look at this first: 5 indices may have lost their rows\..*no row in .*, created 10 min ago$/ms,
    );
    const young = surveyOf({ rowsTotal: 1_234_567, created: { at: days(5), rowsBefore: 0, rowsSoonAfter: 9 } });
    expect(damageLines(young, Date.now())[1]?.text).toMatch(/: 1,234,567 rows in .*, created 5 days ago$/);
    expect(stdout.indexOf('Look at this first')).toBeLessThan(stdout.indexOf('Rows older than'));
    const off = policies.filter(({ enabled }) => enabled === false).map((one) => `${one.entityType}.${one.aspect}`);
    expect(off.sort()).toEqual([...touched].sort());
  });

  test.each([
    ['an aspect that nobody uses, whose index was made anew a week ago', 0, { at: days(7), rowsBefore: 0 }],
    ['an index kept at ten days, made anew 40 days ago', 100, { at: days(40), rowsBefore: 0, rowsSoonAfter: 0 }],
    ['an index with rows from before it was made', 100, { at: days(5), rowsBefore: 90 }],
    ['an index that was made too long ago', 100, { at: days(61), rowsBefore: 0, rowsSoonAfter: 9 }],
    ['an index whose name has no time', 0, undefined],
  ])('no loss in %s', (_, rowsTotal, created) => {
    expect(damageLines(surveyOf({ rowsTotal, created }), Date.now())).toEqual([]);
  });

  test('a first run that would be too big, and suggests a row limit, except where the server reindexes anyway', () => {
    const big = { rowsTotal: 50e6, older: { 30: 40e6, 90: 33e6, 180: 31e6, 365: 2e6 } };
    const suggested = (counts: object, own: OwnTruncations = new Map()) =>
      suggest(surveyOf({ ...big, ...counts }), own, { now: 0 })[0]!;
    const bite = suggested({});
    expect(bite).toMatchObject({ policy: { retentionDays: 180, maxRowsPerRun: 5_000_000 }, rowsToDelete: 5_000_000 });
    expect(bite.why).toMatch(/: about 6 nights, until less than 10 % of its rows are that old$/);
    expect(suggested({ reindexes: true }).policy).not.toHaveProperty('maxRowsPerRun');
    const half = suggested({ reindexes: true, deletesAt: new Set([180]) });
    const begun = suggested({}, new Map([['dataset_operationaspect_v1', { at: 0, retentionDays: 180 }]]));
    const few = suggested({ rowsTotal: 1e9, older: { ...big.older, 365: 6e7 } });
    for (const { policy } of [half, begun, few]) expect(policy).toHaveProperty('maxRowsPerRun');
    expect(few.why).not.toContain('nights');
    const nothing = { checks: [], damage: [], damaged: [], hints: [], now: 0 };
    const found = { ...nothing, survey: surveyOf(big), suggestions: [bite], gain: firstRunGain(surveyOf(big), [bite]) };
    expect(surveyLines(found, 80, 999).join()).toContain('would delete up to 5,000,000 of 50,000,000 rows');
    expect(surveyPage(found, '', undefined, String)).toContain('up to <b>5,000,000</b> would be deleted');
  });

  test('a server that has one size for everything, and tries the known aspects', async () => {
    const { text } = await surveyed({ profile: 'postgres' });
    expect(text).toContain('only reports the size of its store');
    expect(text).toContain('dataset.datasetUsageStatistics');
  });

  test('a server that does not tell sizes, and counts every known aspect that it has', async () => {
    const { status, text, policies } = await surveyed({ faults: ['denied=sizes'] });
    expect([status, policies.length]).toEqual([0, 9]);
    expect(text).toContain('Get Timeseries index sizes API');
    expect(text).toMatch(/Truncation +allowed \(asked by a dry run\)/);
  });
});

describe('A survey ends with status 1 and the remedy for', () => {
  test.each([
    ['a truncation that is refused', ['denied=truncate'], 'FAILED Truncation', 'Truncate timeseries aspect index size'],
    ['a login page', ['login-page'], 'FAILED Address', 'https://host/api/gms'],
    ['a redirect to one', ['login-redirect'], 'FAILED Address', 'https://host/api/gms'],
    ['a clock that is an hour off', ['clock-skew=3600'], 'FAILED Clock', 'NTP'],
  ])('%s', async (_, faults, problem, remedy) => {
    const { status, text } = await surveyed({ faults });
    expect([status, text]).toEqual([1, expect.stringContaining(problem)]);
    expect(text).toContain(remedy);
  });

  test('an expired token, and never prints it', async () => {
    const here = await serviceHere({ token: 'another-token' });
    const payload = Buffer.from(JSON.stringify({ exp: Math.floor(days(3) / 1000) })).toString('base64url');
    const token = `e30.${payload}.x`;
    here.files.write('token', token);
    const { status, stdout } = await survey(here);
    expect([status, stdout]).toEqual([1, expect.stringMatching(/FAILED +Token +expired 3 days ago/)]);
    expect(stdout).not.toContain(token);
  });

  test('a host name that does not resolve', async () => {
    const here = await serviceHere();
    const { status, stdout } = await survey({ ...here, url: 'http://gms.invalid:8080' });
    expect([status, stdout]).toEqual([1, expect.stringMatching(/FAILED +Address +.*cannot be resolved/)]);
  });
});
