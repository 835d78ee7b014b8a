import { chmodSync, openSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseArguments, type ServerRunArguments } from '../../cli/command-line/arguments.ts';
import { execute } from '../../cli/execute.ts';
import { sampleIndices } from '../../cli/operations-service/samples.ts';
import { type ServiceOptions, startOperationsService } from '../operations-service/server.ts';
import { type Finished, folder, outcomesOf, page, run, start } from './processes.ts';

/**
 * Processes are expensive: they are used only for what needs one (status, streams, signals, environment). What a run says
 * and does is tested in this process.
 */

const samplePolicies = new URL('../../cli/sample-policies.json', import.meta.url).pathname;

async function service(options: ServiceOptions, finished: Finished) {
  const started = await startOperationsService(options);
  finished(() => started.close());
  const sent = () =>
    started.engine.asked.filter(({ body }) => (body as { dryRun?: boolean } | undefined)?.dryRun === false);
  return { ...started, sent };
}

/** Runs the command line in this process. */
async function runHere(args: string[], env: NodeJS.ProcessEnv = {}): Promise<{ status: number; stdout: string }> {
  const { output, text } = page();
  const status = await execute(parseArguments(args, env) as ServerRunArguments, output, env, 'npm start --');
  return { status, stdout: text() };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

describe.concurrent('npm start', () => {
  it('gives the same outcomes against the embedded service and against one started separately, and status 0', async ({
    onTestFinished: finished,
  }) => {
    const files = folder(finished);
    const { url, token, sent } = await service({ indices: sampleIndices(20_000) }, finished);
    const tokenFile = files.write('token', `${token}\n`);
    // One policy of each kind, without the one that takes ten seconds: .ci/run executes the whole run.
    const only = [
      'dashboard.dashboardUsageStatistics',
      'dataset.operation',
      'dataset.datasetProfile',
      'chart.chartUsageStatistics',
    ];
    const chosen = [...only, 'query.queryUsageStatistics'].flatMap((index) => ['--only', index]);
    const [embedded, separate] = await Promise.all([
      run(['demo', ...chosen, '--json', files.at('embedded.json')], { XDG_STATE_HOME: files.at('state') }),
      runHere([
        ...['enforce', '--gms-url', url, '--token-file', tokenFile, '--policies', samplePolicies, '--fast'],
        ...chosen,
        ...['--ledger', files.at('ledger'), '--json', files.at('separate.json')],
      ]),
    ]);
    expect([embedded.status, separate.status]).toEqual([0, 0]);
    expect(outcomesOf(files.report('separate.json'))).toEqual(outcomesOf(files.report('embedded.json')));
    expect(new Set(Object.values(outcomesOf(files.report('embedded.json'))))).toEqual(
      new Set(['truncated', 'below-threshold', 'nothing-to-delete', 'disabled']),
    );
    expect(sent().length).toBe(files.report('separate.json').policies.filter(({ taskId }) => taskId).length);
    expect(embedded.stdout).not.toMatch(control);
    expect(embedded.stdout).toMatch(/operation: [\d,]+ of 63,000 rows done/);
    const remembered = await run(['history', 'dataset.operation'], { XDG_STATE_HOME: files.at('state') });
    expect(remembered.stdout).toMatch(/^ {2}Rows +27\.0 K /m);
    expect(embedded.stdout).toContain('Subject: [DataHub retention] demo:');
    expect(embedded.stdout).toMatch(/^Run local-.* took \d+ s with its waits cut short\.$/m);
    expect(JSON.stringify(separate) + readFileSync(files.at('separate.json'), 'utf8')).not.toContain(token);
  });

  it('sends no real truncate as a preview, leaves no ledger, and opens with the preflight', async ({
    onTestFinished: finished,
  }) => {
    const files = folder(finished);
    const { url, token, sent, engine } = await service({ indices: sampleIndices(2000) }, finished);
    const state = files.at('state');
    const preview = await run(['preview', '--gms-url', url, '--policies', samplePolicies, '--json', '-'], {
      DATAHUB_GMS_TOKEN: token,
      XDG_STATE_HOME: state,
      NO_PROXY: '*',
    });
    expect(preview.status).toBe(0);
    expect(sent()).toEqual([]);
    // Only the report is on standard output; what people read is on the other stream.
    const report = JSON.parse(preview.stdout);
    expect(Object.values(outcomesOf(report))).toContain('would-truncate');
    expect(preview.stderr).toMatch(/^Server [\s\S]*ok {6}Truncation {3}allowed[\s\S]*Plan:[\s\S]*PREVIEW/);
    // Asked only by Plan, and reported once: one line in the email.
    const asked = engine.asked.map(({ action }) => action).filter((action) => action !== 'truncateTimeseriesAspect');
    expect(asked.sort()).toEqual(['getEsTaskStatus', 'getIndexSizes']);
    expect(preview.stderr.match(/ok {6}Connection/g)).toHaveLength(1);
    expect(preview.stderr).toMatch(/^Preflight: address, DNS, connection, .*:\s+all\s+well\.$/m);
    expect(report.preflight).toHaveLength(8);
    expect(() => readFileSync(state)).toThrow('ENOENT');
    expect(preview.stdout + preview.stderr).not.toContain(token);
  });

  // How other interruptions are reported is in stopped.test.ts; this one cannot be reported.
  it('picks up a running truncation after SIGKILL, and sends nothing twice', async ({ onTestFinished: finished }) => {
    const files = folder(finished);
    const indices = [{ entityType: 'dataset', aspect: 'operation', rows: 5000, days: 100 }];
    // Seconds of work: the second process must find it running.
    const { url, token, sent } = await service({ indices, faults: ['rows-per-second=1500'] }, finished);
    const policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, batchSize: 250 }];
    const args = [
      ...['enforce', '--gms-url', url, '--token-file', files.write('token', token), '--fast'],
      ...['--policies', files.write('policies', policies)],
    ];
    const env = { XDG_STATE_HOME: files.at('state') };
    const first = start(args, env);
    await first.printed(/operation: [1-9][\d,]* of 3,500 rows done/);
    first.process.kill('SIGKILL');
    expect((await first.ended).status).toBe(null);

    const second = await runHere([...args, '--json', files.at('report.json')], env);
    expect(second.status).toBe(0);
    expect(files.report('report.json').policies).toMatchObject([
      { outcome: 'truncated', adopted: true, rowsDeleted: 3500 },
    ]);
    expect(sent().length).toBe(1);
  });

  it.skipIf(process.platform !== 'linux')(
    'goes on when its output cannot be written',
    async ({ onTestFinished: finished }) => {
      const files = folder(finished);
      const indices = [{ entityType: 'dataset', aspect: 'operation', rows: 500, days: 100 }];
      const { url, token } = await service({ indices }, finished);
      const policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30 }];
      const { status, stderr } = await start(
        [
          ...['enforce', '--gms-url', url, '--token-file', files.write('token', token), '--fast'],
          ...['--policies', files.write('policies', policies), '--ledger', files.at('l'), '--json', files.at('r.json')],
        ],
        {},
        openSync('/dev/full', 'w'),
      ).ended;
      expect(stderr).toBe('The output cannot be written (the disk is full): free some space. The run goes on.\n');
      expect(status).toBe(0);
      expect(outcomesOf(files.report('r.json'))).toEqual({ 'dataset.operation': 'truncated' });
    },
  );

  it('refuses a mistyped option in one sentence on standard error, with status 2 and no request', async ({
    onTestFinished: finished,
  }) => {
    const { url, engine } = await service({ indices: [] }, finished);
    const { status, stdout, stderr } = await run(['enforce', '--gms-url', url, '--polices', 'p.json'], {
      DATAHUB_GMS_TOKEN: 'any',
    });
    expect(stderr).toMatch(/^[^\n]*Did you mean --policies\?[^\n]*\n$/);
    expect([stdout, status, engine.asked]).toEqual(['', 2, []]);
  });
});

describe.concurrent('a run', () => {
  it('ends with status 1 for a token that the server refuses, and never prints it', async ({
    onTestFinished: finished,
  }) => {
    const files = folder(finished);
    const { url } = await service({ indices: sampleIndices(2000) }, finished);
    const token = 'a-token-that-nobody-issued';
    const refused = await runHere([
      ...['preview', '--gms-url', url, '--token-file', files.write('token', token), '--policies', samplePolicies],
      ...['--json', files.at('report.json')],
    ]);
    expect(refused.status).toBe(1);
    expect(refused.stdout).toMatch(/does not\s+accept\s+the\s+token/);
    expect(refused.stdout + JSON.stringify(files.report('report.json'))).not.toContain(token);
  });

  it('says what keeps it from the server, with a remedy for this machine, and ends with status 1', async ({
    onTestFinished: finished,
  }) => {
    const files = folder(finished);
    const { url, close } = await startOperationsService({ indices: [] });
    await close();
    const token = files.write('token', 'any');
    const { status, stdout } = await runHere(
      ['preview', '--gms-url', url, '--token-file', token, '--policies', samplePolicies],
      {
        XDG_STATE_HOME: files.at('state'),
      },
    );
    expect(status).toBe(1);
    expect(stdout).toMatch(/FAILED {2}Connection {3}no connection to/);
    expect(stdout).toMatch(/-> Is the server, or kubectl port-forward, running on this port\?/);
    expect(stdout.indexOf('Preflight:')).toBeLessThan(stdout.indexOf('Plan:'));
  });

  it('warns of a doubtful name before the first request', async ({ onTestFinished: finished }) => {
    const files = folder(finished);
    const { url, token } = await service({ indices: sampleIndices(200) }, finished);
    const policies = [{ entityType: 'datset', aspect: 'operations', retentionDays: 30 }];
    const { stdout } = await runHere([
      ...['preview', '--gms-url', url, '--token-file', files.write('token', token), '--ledger', files.at('l')],
      ...['--policies', files.write('policies', policies)],
    ]);
    expect(stdout).toMatch(
      /^Note {4}datset\.operations is no index of DataHub's own[^\n]*\n?[^\n]*dataset\.operation/m,
    );
    expect(stdout.indexOf('Note ')).toBeLessThan(stdout.indexOf('Preflight:'));
  });

  it('suggests what a mistyped name means, in preview and report', async ({ onTestFinished: finished }) => {
    const files = folder(finished);
    const { url, token } = await service({ indices: sampleIndices(200) }, finished);
    const policies = [{ entityType: 'dataset', aspect: 'operaton', retentionDays: 30 }];
    const { status, stdout } = await runHere([
      ...['preview', '--gms-url', url, '--token-file', files.write('token', token), '--ledger', files.at('l')],
      ...['--policies', files.write('policies', policies), '--json', files.at('r.json')],
    ]);
    expect(status).toBe(1);
    expect(stdout).toContain('Did you mean dataset.operation?');
    expect(stdout).toMatch(/ok {6}Truncation/);
    expect(files.report('r.json').policies).toMatchObject([{ cause: { kind: 'server', meant: 'dataset.operation' } }]);
  });

  it.skipIf(process.platform !== 'linux')(
    'says what to do when the disk of its ledger is full, on screen and in its report',
    async ({ onTestFinished: finished }) => {
      const files = folder(finished);
      const indices = [{ entityType: 'dataset', aspect: 'operation', rows: 500, days: 100 }];
      const { url, token, sent } = await service({ indices }, finished);
      const policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30 }];
      const { status, stdout } = await runHere([
        ...['enforce', '--gms-url', url, '--token-file', files.write('token', token), '--fast'],
        ...['--policies', files.write('policies', policies), '--ledger', '/dev/full', '--json', files.at('r.json')],
      ]);
      expect(status).toBe(1);
      expect(stdout).toContain('Cannot write the ledger file /dev/full: the disk is full; free some space.');
      expect(files.report('r.json').error).toBe(
        'Cannot write the ledger file /dev/full: the disk is full; free some space',
      );
      expect(sent()).toEqual([]);
    },
  );

  it('previews with a ledger that may only be read', async ({ onTestFinished: finished }) => {
    const files = folder(finished);
    const { url, token } = await service({ indices: sampleIndices(200) }, finished);
    const policies = files.write('p', [{ entityType: 'dataset', aspect: 'operation', retentionDays: 60 }]);
    const args = [
      ...['--gms-url', url, '--token-file', files.write('token', token), '--policies', policies],
      ...['--ledger', files.at('l')],
    ];
    await runHere(['enforce', ...args, '--fast']);
    chmodSync(files.at('l'), 0o400);
    const before = readFileSync(files.at('l'));
    expect((await runHere(['preview', ...args])).status).toBe(0);
    expect(readFileSync(files.at('l'))).toEqual(before);
  });

  it('takes 48 policies for indices that do not exist, without repeating each dry run', async ({
    onTestFinished: finished,
  }) => {
    const files = folder(finished);
    const { url, token, engine } = await service({ indices: sampleIndices(200) }, finished);
    const policies = Array.from({ length: 48 }, (_, at) => ({
      entityType: 'dataset',
      aspect: `nothing${at}`,
      retentionDays: 30,
    }));
    const { status, stdout } = await runHere([
      ...['preview', '--gms-url', url, '--token-file', files.write('token', token), '--ledger', files.at('l')],
      ...['--policies', files.write('policies', policies)],
    ]);
    expect(status).toBe(1);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('failed in dataset.nothing0 (no such index), 47 more');
    // One for each, and one for the preflight, of an existing index.
    expect(engine.asked.filter(({ action }) => action === 'truncateTimeseriesAspect')).toHaveLength(49);
  });
});
