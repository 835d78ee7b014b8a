import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { folderLedger } from '../../../cli/ledgers/folder-ledger.ts';
import { serverAddress } from '../../../lambda/gms/http/base-url.ts';
import { aQuarantined } from '../../support/records.ts';
import { operation, runHere, serviceHere } from '../here.ts';
import { startReceiver } from '../outputs/receiver.ts';

/** A night whose inputs cannot be used, and a loss that nobody has heard of. */

async function lossInTheLedger() {
  const service = await serviceHere();
  const { files, run, url } = service;
  const ledger = folderLedger(files.at('ledger'));
  await ledger.prepare();
  await ledger.replace(aQuarantined({ unreported: true, server: serverAddress(url) }));
  const hook = await startReceiver();
  files.write('hook', hook.url);
  const given = (verb: string, ...more: string[]) => [
    ...run(verb, [operation], ...more),
    ...['--notify-url-file', files.at('hook'), '--metrics-file', files.at('metrics')],
  ];
  return { ...service, hook, given };
}
type Night = Awaited<ReturnType<typeof lossInTheLedger>>;

const instead = (args: string[], option: string, value: string) =>
  args.map((word, at) => (args[at - 1] === option ? value : word));

test.each<[what: string, mistake: RegExp, spoil: (night: Night, args: string[]) => unknown]>([
  ['policies that are no JSON', /it is not JSON/, ({ files }) => files.write('policies.json', '{')],
  ['policies that are gone', /no such file/, ({ files }) => rmSync(files.at('policies.json'))],
  ['an index without a policy', /has no policy for it/, (_, args) => [...args, 'chart.chartUsageStatistics']],
  ['an empty token file', /is empty/, ({ files }) => files.write('token', '')],
  [
    'a CA file that is gone',
    /--ca-file: .*no such file/,
    ({ files }, args) => [...args, '--ca-file', files.at('no-ca')],
  ],
  ['an address that is none', /must begin with http/, (_, args) => instead(args, '--gms-url', 'nowhere')],
  ['a report that exists', /the file exists/, ({ files }, args) => [...args, '--json', files.write('report', '{}')]],
])(
  '%s: reported with what the ledger holds, posted, in the metrics and the status, and status 2',
  async (_, mistake, spoil) => {
    for (const hasTerminal of [false, true]) {
      const night = await lossInTheLedger();
      const args = night.given('enforce');
      const spoiled = spoil(night, args);
      const { status, stdout, stderr } = await runHere(Array.isArray(spoiled) ? spoiled : args, { hasTerminal });
      expect([status, stderr]).toEqual([2, expect.stringMatching(mistake)]);
      const [post, ...others] = night.hook.received.map(({ body }) => JSON.stringify(body));
      expect(others).toEqual([]);
      for (const text of [stdout, post]) expect(text).toMatch(/rows missing/i);
      expect(post).toMatch(mistake);
      expect(readFileSync(night.files.at('metrics'), 'utf8')).toMatch(/run_result\{[^}]*\} 2/);
      expect((await runHere(['status', ...night.ledger])).stdout).toMatch(/Last run .*: enforce, failed/);
      // Told, and nothing else: no server has been asked.
      expect([await night.states(), night.engine.asked]).toEqual([['quarantined'], []]);
    }
  },
);

test.each<[what: string, spoil: (night: Night) => string[], posts: number, context?: Parameters<typeof runHere>[1]]>([
  ['the webhook', ({ files }) => ['--notify-url-file', files.at('no-hook')], 0],
  ['the file of the report', ({ files }) => ['--json', files.at('no/report')], 0],
  ['every output', () => [], 0, { isOutputDiscarded: true }],
  ['a variable', ({ given }) => given('').slice(-4), 1, { env: { DATAHUB_RETENTION_NOTIFY_FORMAT: 'fax' } }],
])(
  'Where %s that was asked for cannot be used, the loss is not reported: the next run says it again',
  async (_, spoil, posts, context) => {
    const { given, ...night } = await lossInTheLedger();
    const args = night.run('enforce', [operation], ...spoil({ given, ...night }));
    expect((await runHere(args, context)).status).toBe(2);
    expect([night.hook.received.length, await night.states(), night.engine.asked]).toEqual([posts, ['unreported'], []]);
  },
);

test.each(['preview', 'release'])('%s reports it, too', async (verb) => {
  const night = await lossInTheLedger();
  night.files.write('token', '');
  const args = night.given(verb, ...(verb === 'release' ? ['dataset.operation'] : []));
  expect(await runHere(args)).toMatchObject({ status: 2, stdout: expect.stringMatching(/rows missing/i) });
  expect([night.hook.received.length, await night.states(), night.engine.asked]).toEqual([1, ['quarantined'], []]);
});

test('What only a person has typed wrong, where there is nothing to tell, is one sentence', async () => {
  const { run, files, ledger } = await serviceHere();
  const args = run('enforce', [operation]);
  rmSync(files.at('policies.json'));
  mkdirSync(files.at('ledger'));
  // An address and a token may be in the file that is gone.
  for (const given of [args, ['enforce', '--yes', ...ledger, '--policies', files.at('policies.json')]])
    expect(await runHere(given, { env: { HOME: files.at('home') } })).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/^--policies.*\.$/),
    });
});
