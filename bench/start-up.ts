import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleInto, functionNames } from '../infra/functions/bundles.ts';
import { functionEnvironment } from '../test/support/function-environment.ts';

/** How large the functions are, bundled as for a deployment, and how long they take to import. */
interface StartUp {
  name: string;
  kilobytes: number;
  /** Median of imports in separate processes, milliseconds. */
  millis: number;
  /** That, divided by the median of a bundle that can only read parameters: what no function can do without. */
  ratio: number;
}

const parametersOnly = 'parameters-only';
const importAndTell = `const since = process.hrtime.bigint();
await import(process.argv[2]);
process.stdout.write(String(Number(process.hrtime.bigint() - since) / 1e6));
process.exit(0);
`;

/** @param rounds imports of each bundle, in turn, so that the machine's fluctuations affect all of them */
export function measureStartUp(rounds: number): StartUp[] {
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-bench-'));
  try {
    const handlers = Object.fromEntries(functionNames.map((name) => [name, `lambda/handlers/${name}.ts`]));
    const sources: Record<string, string> = { [parametersOnly]: `bench/${parametersOnly}.ts`, ...handlers };
    bundleInto(folder, sources);
    const script = join(folder, 'import.mjs');
    writeFileSync(script, importAndTell);
    const times = new Map(Object.keys(sources).map((name) => [name, [] as number[]]));
    for (let round = 0; round < rounds; round++) {
      for (const [name, all] of times) all.push(importMillis(script, join(folder, name, 'index.mjs')));
    }
    const median = (name: string) => times.get(name)!.sort((one, other) => one - other)[rounds >> 1]!;
    return [...times.keys()].map((name) => ({
      name,
      kilobytes: statSync(join(folder, name, 'index.mjs')).size / 1024,
      millis: median(name),
      ratio: median(name) / median(parametersOnly),
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function importMillis(script: string, bundle: string): number {
  const { stdout, stderr } = spawnSync(process.execPath, [script, bundle], {
    env: functionEnvironment,
    encoding: 'utf8',
  });
  const millis = Number(stdout);
  if (stdout === '' || Number.isNaN(millis)) throw new Error(`${bundle} cannot be imported: ${stderr}`);
  return millis;
}
