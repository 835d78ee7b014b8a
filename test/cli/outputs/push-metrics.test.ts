import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { figuresOf } from '../../../cli/outputs/figures.ts';
import { pushAddress, pushFigures } from '../../../cli/outputs/push-metrics.ts';
import { withSentences } from '../../../lambda/report/sentences/sentences.ts';
import { entryCases } from '../../lambda/report/cases.ts';
import { expressionsIn } from '../../support/expressions.ts';
import { listening, textOf } from '../../support/loopback.ts';
import { anEntry, aReportOf } from '../../support/reports.ts';
import { operation, runHere, serviceHere } from '../here.ts';
import { parseOpenMetrics } from './open-metrics.ts';

/** The figures of a run: their text, and one PUT of it. */

/** What a Pushgateway keeps: for each group, what the last PUT has put there. */
async function startPushgateway(answers: number[] = []) {
  const groups = new Map<string, Map<string, number>>();
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    const status = answers.shift();
    if (status !== undefined) return response.writeHead(status).end('not now');
    if (request.method !== 'PUT' || !request.url?.startsWith('/metrics/job/')) return response.writeHead(404).end();
    groups.set(request.url, parseOpenMetrics(text));
    return response.writeHead(200).end();
  });
  const at = await listening(server);
  onTestFinished(at.close);
  return { ...at, groups };
}

test('the text of every case is OpenMetrics, and names stage and mode everywhere', () => {
  const entries = entryCases.map(([, outcome, cause, more], n) =>
    anEntry(outcome, cause, { name: `dataset.a${n}`, ...more }),
  );
  for (const mode of ['enforce', 'preview'] as const) {
    const report = withSentences(aReportOf([...entries, ...entries.slice(0, 1)], { mode, stage: 'a "b"\\\nc' }));
    const series = parseOpenMetrics(figuresOf(report));
    expect(series.size).toBeGreaterThan(entries.length);
    for (const name of series.keys()) expect(name).toContain(`{stage="a \\"b\\"\\\\\\nc",mode="${mode}"`);
  }
});

test.each([
  ['2026-11-27T03:00:00.000Z', ['unknown', 'quarantined']],
  [undefined, ['unknown']],
])('An index that its verdict quarantines is quarantined in the figures at once: decided at %s', (decidedAt, said) => {
  const entry = anEntry('unknown', { kind: 'unproven', inPlace: false }, { method: 'reindex', decidedAt });
  expect(figuresOf(withSentences(aReportOf([entry]))).match(/(?<=outcome=")[^"]+/g)).toEqual(said);
});

const inDocs = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');

/** A run's series, each of its metrics with its labels. */
function writtenSeries(): Map<string, string[]> {
  const counted = { rowsTotal: 9, rowsToDelete: 8, rowsDeleted: 7, rowsMissing: 6, rowsNotVisible: 5 };
  const report = withSentences(aReportOf([anEntry('truncated', { kind: 'verified' }, counted)]));
  return new Map(
    [...parseOpenMetrics(figuresOf(report)).keys()].map((key) => [
      /^\w+/.exec(key)![0],
      [...key.matchAll(/(\w+)="/g)].map(([, label]) => label!),
    ]),
  );
}

test.each(['alert-rules.yaml', 'grafana-dashboard.json'])('%s: its queries name what a run writes', (name) => {
  const series = writtenSeries();
  const queries = expressionsIn(parse(inDocs(name)));
  expect(queries.length).toBeGreaterThan(2);
  for (const query of queries) {
    const metrics = query.match(/datahub_retention_\w+/g)!;
    const labels = [...query.matchAll(/(\w+) *(?:=~?|!=|!~) *"/g)].map(([, label]) => label!);
    const grouped = [...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names]) => names!.split(/, */));
    expect(metrics.filter((metric) => !series.has(metric))).toEqual([]);
    const lost = metrics.flatMap((metric) =>
      [...labels, ...grouped].filter((one) => !series.get(metric)?.includes(one)),
    );
    expect([query, lost]).toEqual([query, []]);
  }
  // What a rule says of a series is one of the labels that its query keeps.
  for (const [, label] of inDocs(name).matchAll(/\$labels\.(\w+)/g)) expect(['stage', 'index']).toContain(label);
});

test('the dashboard shows every metric', () => {
  const dashboard = inDocs('grafana-dashboard.json');
  expect([...writtenSeries().keys()].filter((name) => !new RegExp(`${name}\\b`).test(dashboard))).toEqual([]);
});

test('the page names every metric with its labels, and no other', () => {
  const page = inDocs('metrics.md');
  const listed = [...page.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(([, name, labels = '']) => [
    name,
    ...[...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
  ]);
  const series = [...writtenSeries()].map(([name, labels]) => [
    name.replace('datahub_retention_', ''),
    ...labels.filter((label) => label !== 'stage' && label !== 'mode'),
  ]);
  expect(listed.toSorted()).toEqual(series.toSorted());
});

describe('a Pushgateway', () => {
  test('has the last run of each stage: one that succeeded, then one that failed', async () => {
    const { url, groups } = await startPushgateway();
    const { run, server, ledger, files } = await serviceHere();
    const args = ['--metrics-url', url, '--name', 'prod'];
    expect((await runHere(run('enforce', [operation], ...args))).status).toBe(0);
    const group = '/metrics/job/datahub_retention/stage/prod';
    const labels = 'stage="prod",mode="enforce"';
    const result = () => groups.get(group)?.get(`datahub_retention_run_result{${labels}}`);
    expect([[...groups.keys()], result()]).toEqual([[group], 0]);
    expect(groups.get(group)?.get(`datahub_retention_index_rows_deleted{${labels},index="dataset.operation"}`)).toBe(
      573,
    );
    // A policy that the server does not know.
    const unknown = files.write('unknown.json', [{ entityType: 'dataset', aspect: 'noSuchThing', retentionDays: 60 }]);
    await runHere(['enforce', '--yes', ...server, ...ledger, '--fast', '--policies', unknown, ...args]);
    expect([groups.size, result()]).toEqual([1, 2]);
  });

  test.each([
    ['refuses it', [400], /^ {2}The figures were not pushed to .*: it answered 400 \("not now"\)\./m],
    ['stays away', [503, 503, 503], /^ {2}The figures were not pushed to .*: it answered 503/m],
  ])('that %s: the run goes on, says so, and ends with 1', async (_, answers, said) => {
    const { url } = await startPushgateway(answers);
    const { run, states } = await serviceHere();
    const { status, stdout } = await runHere(run('enforce', [operation], '--metrics-url', url));
    expect([status, stdout]).toEqual([1, expect.stringMatching(said)]);
    expect(await states()).toEqual(['idle']);
  });

  test('that is away for a moment is asked again', async () => {
    const { url, groups } = await startPushgateway([500]);
    const problem = await pushFigures(pushAddress(url, 'ä b'), '# EOF\n', { sleep: async () => {} });
    expect([problem, ...groups.keys()]).toEqual([undefined, '/metrics/job/datahub_retention/stage@base64/w6QgYg']);
  });

  test.each([
    ['http://push:9091', 'http://push:9091/metrics/job/datahub_retention/stage/prod'],
    ['https://host/push/', 'https://host/push/metrics/job/datahub_retention/stage/prod'],
    ['http://push:9091/metrics/job/mine/team/a', 'http://push:9091/metrics/job/mine/team/a'],
  ])('at %s', (address, expected) => {
    expect(pushAddress(address, 'prod').href).toBe(expected);
  });

  test.each(['push:9091', 'http://user:word@push', 'ftp://push', ''])('at %s is refused before the run', (address) => {
    expect(() => pushAddress(address, 'prod')).toThrow('--metrics-url does not hold the address of a Pushgateway');
  });
});
