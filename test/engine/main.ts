import { writeFileSync } from 'node:fs';
import { EngineError } from '../../local/operations-service/opensearch/address.ts';
import type { EngineCase } from './cases/case.ts';
import { endCases } from './cases/ends.ts';
import { otherCases } from './cases/others.ts';
import { plainCases } from './cases/plain.ts';
import { type CaseResult, runCase } from './cases/run-case.ts';
import { caseTable } from './print.ts';
import { useGiven } from './start/given.ts';
import { Skipped } from './start/java.ts';
import { startNode, type TestEngine } from './start/node.ts';
import { type Laboratory, openLaboratory } from './world/laboratory.ts';

/**
 * `npm run test:engine`: the job, as its command line runs it, against a real search engine behind the calls that DataHub's
 * code makes. `--core` runs five cases, `--case TEXT` those whose name holds the text, `--out FOLDER` keeps what the job said.
 */

const cases: readonly EngineCase[] = [...plainCases, ...endCases, ...otherCases];
const say = (line: string) => process.stdout.write(`${line}\n`);

interface Asked {
  core: boolean;
  only: string | undefined;
  out: string | undefined;
}

async function main(): Promise<number> {
  const asked = readArguments(process.argv.slice(2));
  let engine: TestEngine;
  try {
    const given = process.env['OPENSEARCH_URL'];
    engine = given ? await useGiven(given) : await startNode();
  } catch (error) {
    if (error instanceof Skipped) {
      say(`Skipped: ${error.message}.`);
      return 0;
    }
    throw error;
  }
  let laboratory: Laboratory | undefined;
  try {
    laboratory = await openLaboratory(engine);
    return await test(laboratory, engine, asked);
  } finally {
    await laboratory?.close();
    await engine.stop();
  }
}

async function test(laboratory: Laboratory, engine: TestEngine, { core, only, out }: Asked): Promise<number> {
  const chosen = cases.filter((one) => (!core || one.core) && (!only || one.name.includes(only)));
  const skipped = chosen.filter(({ kills }) => kills && engine.restart === undefined);
  const results: CaseResult[] = [];
  for (const one of chosen) {
    if (skipped.includes(one)) {
      say(`skipped  ${one.name}: it kills the node, and this one is not ours`);
      continue;
    }
    const result = await runCase(laboratory, one);
    results.push(result);
    say(`${result.problems.length === 0 ? 'ok      ' : 'FAILED  '} ${one.name} (${result.seconds.toFixed(0)} s)`);
    for (const problem of result.problems) say(`         ${problem}`);
    if (out) writeFileSync(`${out}/${one.name.replaceAll(/[^a-z0-9]+/g, '-')}.txt`, result.said);
  }
  say('');
  for (const line of caseTable(results)) say(line);
  const failed = results.filter(({ problems }) => problems.length > 0).length;
  say('');
  say(`${results.length - failed} passed, ${failed} failed, ${skipped.length} skipped`);
  return failed === 0 ? 0 : 1;
}

function readArguments(argv: readonly string[]): Asked {
  const after = (name: string) => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined);
  return { core: argv.includes('--core'), only: after('--case'), out: after('--out') };
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof EngineError ? error.message : (error as Error).stack}\n`);
  process.exitCode = error instanceof EngineError ? 2 : 1;
}
