import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sampleIndices } from '../../local/operations-service/samples.ts';
import { type ServiceOptions, startOperationsService } from '../../local/operations-service/server.ts';
import { type Finished, folder, outcomesOf, run, start } from './processes.ts';

const samplePolicies = new URL('../../local/sample-policies.json', import.meta.url).pathname;

async function service(options: ServiceOptions, finished: Finished) {
  const started = await startOperationsService(options);
  finished(() => started.close());
  const sent = () =>
    started.engine.asked.filter(({ body }) => (body as { dryRun?: boolean } | undefined)?.dryRun === false);
  return { ...started, sent };
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
    const [embedded, separate] = await Promise.all([
      run(['--json', files.at('embedded.json')]),
      run([
        ...['--gms-url', url, '--token-file', tokenFile, '--policies', samplePolicies, '--enforce', '--fast'],
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
    expect(embedded.stdout).toMatch(/datasetUsageStatistics: [\d,]+ of [\d,]+ rows done/);
    expect(embedded.stdout).toContain('Subject: [DataHub retention] local:');
    expect(embedded.stdout).toMatch(/^Run local-.* took \d+ s with its waits cut short\.$/m);
    expect(JSON.stringify(separate) + readFileSync(files.at('separate.json'), 'utf8')).not.toContain(token);
  });

  it('sends no real truncate without --enforce, leaves no ledger, and opens with the preflight', async ({
    onTestFinished: finished,
  }) => {
    const files = folder(finished);
    const { url, token, sent, engine } = await service({ indices: sampleIndices(2000) }, finished);
    const state = files.at('state');
    const preview = await run(['--gms-url', url, '--policies', samplePolicies, '--json', files.at('report.json')], {
      DATAHUB_GMS_TOKEN: token,
      XDG_STATE_HOME: state,
    });
    expect(preview.status).toBe(0);
    expect(sent()).toEqual([]);
    expect(Object.values(outcomesOf(files.report('report.json')))).toContain('would-truncate');
    expect(preview.stdout).toMatch(/ok {6}Truncation {3}is allowed[\s\S]*Plan:[\s\S]*PREVIEW/);
    // Asked by Plan alone, and said once: the mail has its one line.
    const asked = engine.asked.map(({ action }) => action).filter((action) => action !== 'truncateTimeseriesAspect');
    expect(asked.sort()).toEqual(['getEsTaskStatus', 'getIndexSizes']);
    expect(preview.stdout.match(/ok {6}Connection/g)).toHaveLength(1);
    expect(preview.stdout).toMatch(/^Preflight: address, DNS, connection, .*:\s+all\s+well\.$/m);
    expect(files.report('report.json').preflight).toHaveLength(8);
    expect(() => readFileSync(state)).toThrow('ENOENT');
    expect(preview.stdout + preview.stderr).not.toContain(token);
  });

  it.for([
    ['SIGKILL', null],
    ['SIGINT', 130],
  ] as const)(
    'picks up after %s what runs on the server, and sends nothing twice',
    async ([signal, status], { onTestFinished: finished }) => {
      const files = folder(finished);
      const indices = [{ entityType: 'dataset', aspect: 'operation', rows: 20_000, days: 100 }];
      // Five seconds of work: the second process must find it running.
      const { url, token, sent } = await service({ indices, faults: ['rows-per-second=3000'] }, finished);
      const args = [
        ...['--gms-url', url, '--token-file', files.write('token', token), '--enforce', '--fast'],
        ...[
          '--policies',
          files.write('policies', [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, batchSize: 1000 }]),
        ],
      ];
      const env = { XDG_STATE_HOME: files.at('state') };
      const first = start(args, env);
      await first.printed(/operation: [1-9][\d,]* of 14,000 rows done/);
      first.process.kill(signal);
      const interrupted = await first.ended;
      expect(interrupted.status).toBe(status);
      if (signal === 'SIGINT') {
        expect(interrupted.stderr).toMatch(/dataset\.operation: task [\w-]+:\d+ goes on running on the server\./);
        expect(interrupted.stderr).toContain('Start the same command again');
      }

      const second = await run([...args, '--json', files.at('report.json')], env);
      expect(second.stderr).toBe('');
      expect(second.status).toBe(0);
      expect(files.report('report.json').policies).toMatchObject([
        { outcome: 'truncated', adopted: true, rowsDeleted: 14_000 },
      ]);
      expect(sent().length).toBe(1);
    },
  );

  it('ends with status 1 for a token that the server refuses, and shows it nowhere', async ({
    onTestFinished: finished,
  }) => {
    const files = folder(finished);
    const { url } = await service({ indices: sampleIndices(2000) }, finished);
    const token = 'a-token-that-nobody-issued';
    const refused = await run([
      ...['--gms-url', url, '--token-file', files.write('token', token), '--policies', samplePolicies],
      ...['--json', files.at('report.json')],
    ]);
    expect(refused.status).toBe(1);
    expect(refused.stdout).toMatch(/does not\s+accept\s+the\s+token/);
    expect(refused.stdout + refused.stderr + JSON.stringify(files.report('report.json'))).not.toContain(token);
  });
});

describe.concurrent('npm start of a preview', () => {
  it('says what keeps it from the server, with a remedy for this machine, and ends with status 1', async ({
    onTestFinished: finished,
  }) => {
    const files = folder(finished);
    const { url, close } = await startOperationsService({ indices: [] });
    await close();
    const token = files.write('token', 'any');
    const { status, stdout } = await run(['--gms-url', url, '--token-file', token, '--policies', samplePolicies]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/FAILED {2}Connection {3}no connection to/);
    expect(stdout).toMatch(/-> is the server, or kubectl port-forward, running on this port\?/);
    expect(stdout.indexOf('Preflight:')).toBeLessThan(stdout.indexOf('Plan:'));
  });
});

describe.concurrent('npm start with what cannot be meant', () => {
  const policy = { entityType: 'dataset', aspect: 'operation', retentionDays: 90 };

  it.for<[string, (files: ReturnType<typeof folder>, url: string) => string[], RegExp]>([
    ['an unknown option', () => ['--enforec'], /Did you mean --enforce\?/],
    ['policies that are not JSON', (files) => ['--policies', files.write('p', '[{]')], /is not JSON/],
    [
      'a misspelt field',
      (files) => ['--policies', files.write('p', [{ ...policy, retentionDay: 1 }])],
      /did you mean retentionDays\?/,
    ],
    [
      'a token file that is not there',
      (files, url) => ['--gms-url', url, '--token-file', files.at('no')],
      /--token-file: .*no such file/,
    ],
  ])(
    'refuses %s with one sentence, status 2 and no request',
    async ([, argsOf, sentence], { onTestFinished: finished }) => {
      const files = folder(finished);
      const { url, engine } = await service({ indices: [] }, finished);
      const args = argsOf(files, url);
      const server = args.includes('--gms-url') ? [] : ['--gms-url', url];
      const { status, stdout, stderr } = await run([...server, ...args], { DATAHUB_GMS_TOKEN: 'any' });
      expect(stderr).toMatch(sentence);
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(stdout).toBe('');
      expect(status).toBe(2);
      expect(engine.asked).toEqual([]);
    },
  );
});
