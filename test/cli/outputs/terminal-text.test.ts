import { expect, test } from 'vitest';
import { folderLedger } from '../../../cli/ledgers/folder-ledger.ts';
import { keepLastRun } from '../../../cli/ledgers/stored-ledger.ts';
import { writeTo } from '../../../cli/outputs/output-file.ts';
import { paintFor } from '../../../cli/outputs/screen/screen.ts';
import { serverAddress } from '../../../lambda/gms/http/base-url.ts';
import { mapTexts } from '../../../lambda/report/sentences/text.ts';
import { anIdle, aRecordOfEachState } from '../../support/records.ts';
import { at, inFront, operation, runHere, serviceHere } from '../here.ts';

/** A text that is not ours, and that would write lines and commands of its own on a terminal. */
const marker = 'dataset\u001b]0;title\u0007\u001b[2J\nINJECTED\r\tline\u202e\u2066\u009b1m\u2028';

/** Words that a record must keep to be one. */
const words = /^(?:idle|sending|running|quarantined|truncated|rows-missing|delete|reindex|verified|missing)$/;
const withMarker = <Value>(value: Value, keeps: readonly string[]): Value =>
  mapTexts(
    value,
    (text) => (words.test(text) ? text : marker),
    (key) => keeps.includes(key),
  );

const expectClean = (text: string) => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what we look for
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066]|^\s*INJECTED/m);
};

const records = (server: string, keeps: readonly string[]) =>
  aRecordOfEachState().map((record, n) =>
    withMarker({ ...record, server, index: `index${n}${marker}` }, ['index', 'kind', ...keeps]),
  );

test.each([
  ['of our server', ['server']],
  ['of another', []],
  ['with names that are right', ['server', 'entityType', 'aspect']],
])('nothing of a ledger %s gets onto a terminal as it is', async (_, keeps) => {
  const night = await serviceHere();
  const ledger = folderLedger(night.files.at('ledger'));
  await ledger.prepare();
  for (const record of records(serverAddress(night.url), keeps)) await ledger.replace(record);
  await ledger.replace({ ...anIdle({ index: `broken${marker}` }), state: marker } as never).catch(() => {});
  await keepLastRun(ledger, {
    ...{ runId: marker, server: marker, subject: marker, verb: 'enforce', result: 'ok' },
    ...{ startedAt: '2026-11-20T00:00:00.000Z', finishedAt: '2026-11-20T00:00:00.000Z' },
  });
  night.files.write(
    'ledger/.runs.json',
    JSON.stringify({
      runs: [
        {
          runId: marker,
          finishedAt: marker,
          by: marker,
          result: marker,
          indices: [{ name: marker, outcome: marker }],
          released: [{ name: marker }],
        },
      ],
    }),
  );
  const status = await runHere(['status', ...night.ledger]);
  expect(status.stdout).toMatch(/INJECTED/);
  const broken = ['dataset.operation', 'no.such', marker];
  const runs = await runHere(['status', '--runs', ...night.ledger]);
  const shown = [
    status,
    runs,
    await runHere(night.run('preview', [operation])),
    await runHere(night.run('preview', [{ ...operation, note: marker, owner: marker }])),
    await runHere(night.run('preview', [{ ...operation, entityType: marker }])),
    await runHere(night.run('preview', [{ [marker]: marker }])),
    ...(await Promise.all(broken.map((name) => runHere(night.run('release', [operation], name))))),
    await runHere(night.run('enforce', [operation])),
    await runHere(['validate', '--policies', night.files.write('odd.json', [{ ...operation, [marker]: marker }])]),
  ];
  for (const { stdout, stderr } of shown) expectClean(`${stdout}\n${stderr}`);
});

test('nothing that a server says gets onto a terminal as it is', async () => {
  const { url, run, server } = await serviceHere();
  for (const status of [200, 400, 403, 500]) {
    const address = await inFront(url, () => ({ status, body: JSON.stringify({ message: marker, value: marker }) }));
    for (const args of [run('preview', [operation]), run('enforce', [operation]), ['survey', ...server]]) {
      const { stdout, stderr } = await runHere(at(address, args));
      expectClean(stdout + stderr);
    }
  }
});

test('nothing is written to a terminal, or to a log, but printable characters, line breaks and our own colors', () => {
  let written = '';
  const stream = { write: (text: string) => (written += text) } as unknown as NodeJS.WriteStream;
  const painted = paintFor({ write: () => {}, color: true })('failed', 'rows-missing');
  writeTo(stream, `${painted}\n${marker}\u001b[31mall is well\n`);
  expect(written).toContain('\u001b[31mrows-missing\u001b[39m\n');
  expectClean(written.replace(painted, '').replace(/\nINJECTED\n\t/, ''));
  const json = JSON.stringify({ marker });
  writeTo(stream, json);
  expect(written.endsWith(json)).toBe(false);
  expect(JSON.parse(written.slice(written.lastIndexOf('{')))).toEqual({ marker });
});
