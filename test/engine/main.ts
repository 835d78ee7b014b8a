import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { skipped } from '../support/skips.ts';
import type { EngineCase } from './cases/case.ts';
import { endCases } from './cases/ends.ts';
import { otherCases } from './cases/others.ts';
import { plainCases } from './cases/plain.ts';
import { type CaseResult, runCase } from './cases/run-case.ts';
import { upgradeCases } from './cases/upgrades.ts';
import { visibleCases } from './cases/visible.ts';
import { diskTable, measureDisk, problemsOf } from './disk/measure.ts';
import { undo } from './recovery/undo.ts';
import { engineKinds, engineNames } from './start/engines.ts';
import { Skipped } from './start/java.ts';
import { EngineError, startNode, type TestEngine } from './start/node.ts';
import { openShared, type Shared } from './world/shared.ts';

/**
 * `npm run test:engine`: the job against a real search engine behind the calls that DataHub's code makes. `--engine NAME`
 * starts another one than OpenSearch 2, `--core` runs five cases, `--case TEXT` those whose name contains the text,
 * `--out FOLDER` saves what the job said.
 */

const cases: readonly EngineCase[] = [...plainCases, ...endCases, ...otherCases, ...upgradeCases, ...visibleCases];
const say = (line: string) => process.stdout.write(`${line}\n`);

/** What is being done, for the message if it takes too long. */
let underWay = 'starting the search engine';
/** Stops what has been started. */
let left: (() => Promise<void>) | undefined;

type Asked = ReturnType<typeof readArguments>;

async function main(asked: Asked): Promise<number> {
  let engine: TestEngine;
  try {
    engine = await startNode(engineKinds[asked.engine]);
  } catch (error) {
    if (!(error instanceof Skipped)) throw error;
    skipped(`The tests against a real search engine are skipped: ${error.message}.`);
    return 0;
  }
  let shared: Shared | undefined;
  left = async () => {
    await shared?.close();
    await engine.stop();
  };
  try {
    underWay = 'loading rows';
    shared = await openShared(engine);
    return await withinTime(asked, Promise.race([test(shared, asked), engine.died]));
  } finally {
    await left();
  }
}

/** A test that hangs must not hold a submission up: the cap is several times what a quiet machine needs. */
function withinTime<T>({ core }: Asked, work: Promise<T>): Promise<T> {
  const minutes = core ? 20 : 75;
  let timer: NodeJS.Timeout | undefined;
  const cap = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`After ${minutes} minutes it hangs in: ${underWay}.`)), minutes * 60_000);
  });
  return Promise.race([work, cap]).finally(() => clearTimeout(timer));
}

async function test(shared: Shared, asked: Asked): Promise<number> {
  const named = (name: string) => asked.only === undefined || name.includes(asked.only);
  say(`${engineKinds[asked.engine].title}`);
  let failed = 0;
  // The disk first: otherwise background work that the cases leave to the search engine would be measured, too.
  if (!asked.core && named('disk space')) {
    underWay = 'the disk';
    const rows = await measureDisk(shared);
    const problems = problemsOf(rows);
    failed += problems.length;
    say(['', 'Disk space of an index, relative to before', diskTable(rows), ...problems, ''].join('\n'));
  }
  if (named('undo')) {
    underWay = 'the undo';
    const problems = await undo(shared);
    failed += problems.length;
    say([`${markOf(problems)} undo: a snapshot, and rows brought back from it`, ...problems.map(indented)].join('\n'));
  }
  if (asked.out) mkdirSync(asked.out, { recursive: true });
  const arises = ({ notOn }: EngineCase) => notOn !== asked.engine;
  for (const one of cases.filter((each) => (each.core || !asked.core) && named(each.name) && arises(each))) {
    underWay = one.name;
    const result = await runCase(shared, one);
    failed += result.problems.length > 0 ? 1 : 0;
    say([lineOf(result), ...result.problems.map(indented)].join('\n'));
    if (asked.out) writeFileSync(`${asked.out}/${one.name.replaceAll(/[^a-z0-9]+/g, '-')}.txt`, result.said);
  }
  say(failed === 0 ? 'All passed.' : `${failed} failed.`);
  return failed === 0 ? 0 : 1;
}

const markOf = (problems: readonly string[]): string => (problems.length === 0 ? 'ok     ' : 'FAILED ');
const indented = (line: string): string => `        ${line}`;

function lineOf({ case: { name }, outcome, missing, recovered, seconds, problems }: CaseResult): string {
  const lost = missing.kept + missing.ingested;
  const facts = [outcome, ...(lost > 0 ? [`${lost} rows missing`] : [])];
  const back = recovered && recovered.problems.length === 0 ? [`all back after ${recovered.requests} requests`] : [];
  return `${markOf(problems)} ${name}: ${[...facts, ...back].join(', ')} (${seconds.toFixed(0)} s)`;
}

/** @throws EngineError for an unknown option or engine */
function readArguments(args: string[]) {
  const [flag, text] = [{ type: 'boolean' }, { type: 'string' }] as const;
  try {
    const { values } = parseArgs({ args, options: { core: flag, case: text, out: text, engine: text } });
    const { engine: name = 'opensearch-2', core = false, case: only, out } = values;
    const engine = engineNames.find((known) => known === name);
    if (!engine) throw new Error(`There is no engine ${name}: known are ${engineNames.join(', ')}.`);
    return { engine, core, only, out };
  } catch (error) {
    throw new EngineError((error as Error).message);
  }
}

// An interrupted test leaves nothing running and no data.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void (left?.() ?? Promise.resolve()).finally(() => process.exit(130)));
}

try {
  process.exitCode = await main(readArguments(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof EngineError ? error.message : (error as Error).stack}\n`);
  process.exitCode = error instanceof EngineError ? 2 : 1;
}
// Whatever was abandoned half-way waits for answers that never come.
process.exit();
