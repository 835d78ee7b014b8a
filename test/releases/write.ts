import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import samplePolicies from '../../cli/embedded-service/sample-policies.json' with { type: 'json' };
import { type Attempt, type LedgerRecord, storable, type Verdict } from '../../lambda/ledger/record.ts';
import { summaryOfRun } from '../../lambda/ledger/runs.ts';
import { verdictOutcomes } from '../../lambda/model/outcomes.ts';
import packageManifest from '../../package.json' with { type: 'json' };
import { entryCases, errorCases, noteCases } from '../lambda/report/cases.ts';
import { aLastVerdict, anAttempt, anIdle, aQuarantined, aRecordOfEachState } from '../support/records.ts';
import { anEntry, aReport } from '../support/reports.ts';
import { createWorld } from '../support/world.ts';

/**
 * `npm run fixtures`: keeps what this version writes and how it reads, for the tests of later ones. A released version's
 * folder is never written again.
 */

const { version } = packageManifest;
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'test/releases', version);
if (!readFileSync(join(root, 'CHANGELOG.md'), 'utf8').includes(`## ${version} (unreleased)`)) {
  console.error(`${version} is released: what it has written stays as it is.`);
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
/** A line for each of a list. */
const keep = (name: string, value: object) => {
  const text = Array.isArray(value)
    ? `[\n${value.map((each) => JSON.stringify(each)).join(',\n')}\n]`
    : JSON.stringify(value);
  writeFileSync(join(folder, name), `${text}\n`);
};

/** The compiler asks for a new field. */
const attempt: Required<Attempt> = {
  ...anAttempt(),
  ...{ retentionDays: 30, by: 'ada@host', approvedRows: 70, maxMissingPercent: 0, rest: 5 },
  callError: { kind: 'timeout', operation: 'truncate', seconds: 60 },
  end: { total: 60, created: 60, cancelled: false },
};
const verdict: Required<Omit<Verdict, 'outcome' | 'ofLaterVersion'>> = {
  ...{ cause: { kind: 'verified' }, method: 'delete', noIndex: true, indexNow: 'i_2', durationSeconds: 5 },
  ...{ rowsDeleted: 60, rowsLeftBehind: 1, rowsRemaining: 2, rowsMissing: 3, rowsNotVisible: 4 },
};

/** Each state with each outcome that it can have, in full, and with the fields alone that decide. */
const ends = verdictOutcomes.flatMap((outcome): LedgerRecord[] => {
  const lastVerdict = aLastVerdict({ verdict: { ...verdict, outcome } });
  return [
    anIdle({ lastVerdict, attempt, taskId: 'n:7' }),
    aQuarantined({ lastVerdict, attempt: { ...attempt, announced: 'reindex', method: 'reindex' } }),
    anIdle({ lastVerdict: { ...lastVerdict, verdict: { outcome, method: 'delete' } }, unreported: true }),
  ];
});
keep('records.json', [...aRecordOfEachState(), ...ends].map(storable));

const day = 86_400_000;
const world = await createWorld();
const { clock, standIn } = world;
const rows = (count: number, days: number) => Array(count).fill(clock.time - days * day);
standIn.addRows('dataset.operation', [...rows(700, 120), ...rows(300, 1)]);
const nights = [await world.run(), await world.run({ byHand: true, input: { mode: 'preview' } })];
keep(
  'states.json',
  nights.flatMap(({ states }) => states),
);
keep('runs.json', { version: 1, runs: nights.flatMap(({ report }) => (report ? summaryOfRun(report) : [])) });
await world.close();

keep('reports.json', [
  aReport(
    entryCases.map(([, outcome, cause, more]) => anEntry(outcome, cause, more)),
    { notes: noteCases.map(([, note]) => note), by: 'ada@host' },
  ),
  ...errorCases.map(([, cause]) => aReport([], { cause })),
]);
keep('policies.json', samplePolicies);
cpSync(join(root, 'infra/stages/example.json'), join(folder, 'stage.json'));
cpSync(join(root, 'kubernetes/ci/values.yaml'), join(folder, 'values.yaml'));

/** What decides whether something that is stored can be read. */
await build({
  stdin: {
    contents: `export { parseRecord } from './lambda/ledger/record.ts';
export { parseRuns } from './lambda/ledger/runs.ts';
export { reportSchema } from './lambda/model/report-schema.ts';`,
    resolveDir: root,
  },
  outfile: join(folder, 'reader.mjs'),
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  mainFields: ['module', 'main'],
  legalComments: 'none',
});
