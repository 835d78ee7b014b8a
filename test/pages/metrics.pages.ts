import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { figuresOf } from '../../cli/outputs/figures.ts';
import { pushAddress, pushFigures } from '../../cli/outputs/push-metrics.ts';
import { withSentences } from '../../lambda/report/sentences/sentences.ts';
import { operation, runHere, serviceHere } from '../cli/here.ts';
import { start } from '../cli/processes.ts';
import { programOfPrometheus } from '../cluster/programs.ts';
import { expressionsIn } from '../support/expressions.ts';
import { freePort } from '../support/loopback.ts';
import { anEntry, aReportOf } from '../support/reports.ts';
import { skipped } from '../support/skips.ts';
import { root } from './commands.ts';
import { rowsOf } from './executed.ts';

/** docs/metrics.md, its rules and its dashboard, with a real Pushgateway and a real Prometheus. */

/** Of Prometheus' API. */
interface Answer {
  alerts: Array<{ labels: Record<string, string> }>;
  result: unknown[];
}

const [gatewayProgram, prometheusProgram, promtool] = (
  ['prometheus-pushgateway', 'prometheus', 'promtool'] as const
).map(programOfPrometheus);
const isThere = gatewayProgram !== undefined && prometheusProgram !== undefined && promtool !== undefined;
if (!isThere) skipped('The metrics are not tried with a Pushgateway: it is not here, and no Debian to take it from.');

const patience = { timeout: 60_000, interval: 200 };
const rules = join(root, 'docs/alert-rules.yaml');
const queries = [rules, join(root, 'docs/grafana-dashboard.json')].flatMap((file) =>
  expressionsIn(parse(readFileSync(file, 'utf8'))).map((query) => query.replaceAll('$stage', '.*')),
);

describe.skipIf(!isThere)('With a Pushgateway and Prometheus', () => {
  const ends: Array<() => void> = [];
  let gateway: string;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'datahub-retention-metrics-'));
    ends.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    gateway = await begin(gatewayProgram!, []);
  });
  afterAll(() => {
    for (const end of ends.reverse()) end();
  });

  /** Starts it at a free port; its address, once it is ready. */
  async function begin(program: string, options: string[]): Promise<string> {
    const host = `127.0.0.1:${await freePort()}`;
    const url = `http://${host}`;
    const child = spawn(program, [`--web.listen-address=${host}`, ...options], { stdio: 'ignore' });
    ends.push(() => child.kill('SIGKILL'));
    await vi.waitFor(async () => expect((await fetch(`${url}/-/ready`)).ok).toBe(true), patience);
    return url;
  }

  /** What the gateway shows of a stage, without what it adds: a series and its value. */
  async function shown(stage: string): Promise<Record<string, number>> {
    const text = await (await fetch(`${gateway}/metrics`)).text();
    const own = text.match(new RegExp(`^datahub_retention_.*stage="${stage}".*$`, 'gm')) ?? [];
    return Object.fromEntries(own.map((line) => [line.replace(/ .*$/, ''), Number(line.split(' ').at(-1))]));
  }
  const ofRun = (stage: string, name: string) =>
    `datahub_retention_${name}{instance="",job="datahub_retention",mode="enforce",stage="${stage}"}`;

  test('a run that succeeded is shown until the next one; one that was killed leaves it, one that failed replaces it', async () => {
    const { run, server, ledger, files, engine } = await serviceHere();
    const args = ['--metrics-url', gateway, '--name', 'nights'];
    expect((await runHere(run('enforce', [operation], ...args))).status).toBe(0);
    const good = await shown('nights');
    expect(good[ofRun('nights', 'run_result')]).toBe(0);
    const deleted = Object.keys(good).filter((name) => name.startsWith('datahub_retention_index_rows_deleted{'));
    expect(deleted.map((name) => good[name])).toEqual([573]);

    engine.addRows('dataset.operation', rowsOf(5000, 200));
    engine.fault('rows-per-second=1');
    const slow = start([...run('enforce', [operation], ...args), '--log', 'json']);
    await slow.printed(/"event":"started"/);
    slow.process.kill('SIGKILL');
    await slow.ended;
    engine.fault('rows-per-second=1000000');
    expect(await shown('nights')).toEqual(good);

    const unknown = files.write('unknown.json', [{ entityType: 'dataset', aspect: 'noSuchThing', retentionDays: 60 }]);
    await runHere(['enforce', '--yes', ...server, ...ledger, '--fast', '--policies', unknown, ...args]);
    const failed = await shown('nights');
    expect(failed[ofRun('nights', 'run_result')]).toBe(2);
    const finished = ofRun('nights', 'run_finished_timestamp_seconds');
    expect(failed[finished]).toBeGreaterThan(good[finished]!);
    expect(failed).not.toHaveProperty([deleted[0]!], 573);
  });

  test('each alert fires for its own stage, and every query of rules and dashboard finds series', async () => {
    const counts = { rowsTotal: 90, rowsToDelete: 50, rowsDeleted: 50, rowsMissing: 18, rowsNotVisible: 5 };
    const lost = anEntry('rows-missing', { kind: 'missing', expected: 40, found: 22 }, counts);
    const [now, long] = [Date.now(), Date.now() - 27 * 3_600_000];
    for (const [stage, entries, at, result] of [
      ['lost', [lost], now, 'failed'],
      ['good', [anEntry('truncated', { kind: 'verified' }, { ...counts, rowsMissing: 0 })], now, 'ok'],
      ['late', [], long, 'ok'],
    ] as const) {
      const finishedAt = new Date(at).toISOString();
      const report = aReportOf([...entries], { stage, startedAt: finishedAt, finishedAt, result });
      const figures = figuresOf(withSentences(report));
      expect(execFileSync(promtool!, ['check', 'metrics'], { input: figures, encoding: 'utf8' })).toBe('');
      expect(await pushFigures(pushAddress(gateway, stage), figures)).toBeUndefined();
    }
    const settings = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [
        { job_name: 'gateway', honor_labels: true, static_configs: [{ targets: [new URL(gateway).host] }] },
      ],
    };
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(settings));
    const url = await begin(prometheusProgram!, [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
    ]);
    const get = async (path: string): Promise<Answer> =>
      ((await (await fetch(`${url}/api/v1/${path}`)).json()) as { data: Answer }).data;
    let firing: string[] = [];
    await vi.waitFor(async () => {
      firing = (await get('alerts')).alerts.map(({ labels }) => `${labels['alertname']} ${labels['stage']}`);
      expect(firing.length).toBeGreaterThanOrEqual(3);
    }, patience);
    expect(firing.filter((one) => !one.endsWith(' nights')).sort()).toEqual([
      'DatahubRetentionNotRun late',
      'DatahubRetentionRowsMissing lost',
      'DatahubRetentionRunFailed lost',
    ]);
    // A gateway that restarts has forgotten it; its alert stays.
    await fetch(pushAddress(gateway, 'late'), { method: 'DELETE' });
    const gone = async () => (await get('query?query=datahub_retention_run_result{stage="late"}')).result.length === 0;
    await vi.waitUntil(gone, patience);
    for (const query of queries) {
      const { result } = await get(`query?query=${encodeURIComponent(query)}`);
      expect([query, result.length > 0]).toEqual([query, true]);
    }
  });
});
