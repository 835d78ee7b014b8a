import { writeFileSync } from 'node:fs';
import { EngineError } from '../operations-service/opensearch/address.ts';
import type { EngineCase } from './cases/case.ts';
import { endCases } from './cases/ends.ts';
import { otherCases } from './cases/others.ts';
import { plainCases } from './cases/plain.ts';
import { type CaseResult, runCase } from './cases/run-case.ts';
import { upgradeCases } from './cases/upgrades.ts';
import { diskTable, measureDisk, problemsOf } from './disk/measure.ts';
import { caseTable } from './print.ts';
import { type EngineName, engineKinds, engineNames } from './start/engines.ts';
import { useGiven } from './start/given.ts';
import { Skipped } from './start/java.ts';
import { startNode, type TestEngine } from './start/node.ts';
import { openShared, type Shared } from './world/shared.ts';

/**
 * `npm run test:engine`: the job against a real search engine behind the calls that DataHub's code makes. `--engine NAME`
 * starts another one than OpenSearch 2, `--core` runs five cases, `--case TEXT` those whose name contains the text,
 * `--out FOLDER` saves what the job said.
 */

const cases: readonly EngineCase[] = [...plainCases, ...endCases, ...otherCases, ...upgradeCases];
const say = (line: string) => process.stdout.write(`${line}\n`);

/** What is being done, for the message if it takes too long. */
let underWay = 'starting the search engine';
/** Stops what has been started. */
let left: (() => Promise<void>) | undefined;

interface Asked {
  engine: EngineName;
  core: boolean;
  only: string | undefined;
  out: string | undefined;
}

async function main(asked: Asked): Promise<number> {
  let engine: TestEngine;
  try {
    const given = process.env['OPENSEARCH_URL'];
    engine = given ? await useGiven(given) : await startNode(engineKinds[asked.engine]);
  } catch (error) {
    if (!(error instanceof Skipped)) throw error;
    say(`The tests against a real search engine are skipped: ${error.message}.`);
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
    return await withinTime(asked, Promise.race([test(shared, engine, asked), engine.died]));
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

async function test(shared: Shared, engine: TestEngine, asked: Asked): Promise<number> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const mayKill = engine.restart !== undefined;
  const results: CaseResult[] = [];
  // Runs first: otherwise background work that the cases leave to the search engine would be measured, too.
  if (!asked.core && named('disk space', asked)) {
    underWay = 'the disk';
    const rows = await measureDisk(shared);
    const problems = problemsOf(rows);
    counts[problems.length === 0 ? 'passed' : 'failed']++;
    say(['', 'Disk space of an index, relative to before', diskTable(rows), ...problems].join('\n'));
  }
  for (const one of cases.filter((one) => chosen(one, asked))) {
    if (one.kills && !mayKill) {
      counts.skipped++;
      say(`skipped  ${one.name}: it kills the node, and this one is not ours`);
      continue;
    }
    underWay = one.name;
    const result = await runCase(shared, one);
    results.push(result);
    counts[result.problems.length === 0 ? 'passed' : 'failed']++;
    say(`${result.problems.length === 0 ? 'ok      ' : 'FAILED  '} ${one.name} (${result.seconds.toFixed(0)} s)`);
    say(`         real times of the server: ${one.realTimes}`);
    for (const problem of result.problems) say(`         ${problem}`);
    if (asked.out) writeFileSync(`${asked.out}/${one.name.replaceAll(/[^a-z0-9]+/g, '-')}.txt`, result.said);
  }
  if (results.length > 0) say(['', 'The job', caseTable(results)].join('\n'));
  say('');
  say(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.failed === 0 ? 0 : 1;
}

const chosen = (one: EngineCase, asked: Asked): boolean => (!asked.core || one.core === true) && named(one.name, asked);
const named = (name: string, { only }: Asked): boolean => only === undefined || name.includes(only);

const isEngine = (name: string | undefined): boolean => engineNames.some((known) => known === name);

/** @throws EngineError for an unknown option */
function readArguments(argv: readonly string[]): Asked {
  const asked: Asked = { engine: 'opensearch-2', core: false, only: undefined, out: undefined };
  const rest = [...argv];
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '--core') asked.core = true;
    else if (name === '--case' && rest.length > 0) asked.only = rest.shift();
    else if (name === '--out' && rest.length > 0) asked.out = rest.shift();
    else if (name === '--engine' && isEngine(rest[0])) asked.engine = rest.shift() as EngineName;
    else {
      const options = `--engine ${engineNames.join('|')}, --core, --case TEXT and --out FOLDER`;
      throw new EngineError(`${name}: known are ${options}.`);
    }
  }
  return asked;
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
