import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleInto, functionNames } from '../../infra/functions/bundles.ts';

/** How large the functions are and how long they take to import, bundled as for a deployment. */

export interface StartRow {
  name: string;
  kilobytes: number;
  /** Imports in separate processes, milliseconds. */
  medianMillis: number;
  minMillis: number;
  /** Median divided by that of the function that only reads parameters. */
  ratio: number;
  /** What the bundle consists of: kB by package, the largest first. */
  parts: Record<string, number>;
}

/** Bundles to compare with: nothing, what every function needs, and single parts. */
const controls = [
  'empty',
  'ssm-only',
  'ssm-and-dynamodb',
  'zod-only',
  'logger-only',
  'undici-parts-only',
  'undici-index-only',
];

const importAndTell = `const since = process.hrtime.bigint();
await import(process.argv[2]);
process.stdout.write(String(Number(process.hrtime.bigint() - since) / 1e6));
process.exit(0);
`;

/** @param rounds imports of each bundle, in turn, so that the machine's fluctuations affect all of them */
export function benchStart(rounds: number): StartRow[] {
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-bench-'));
  try {
    const sources = Object.fromEntries([
      ...controls.map((name) => [name, `bench/start/${name}.ts`]),
      ...functionNames.map((name) => [name, `lambda/${name}.ts`]),
    ]) as Record<string, string>;
    const names = Object.keys(sources);
    const metafile = bundleInto(folder, sources);
    const script = join(folder, 'import.mjs');
    writeFileSync(script, importAndTell);
    const pathOf = (name: string) => join(folder, name, 'index.mjs');
    const times = new Map(names.map((name) => [name, [] as number[]]));
    for (let round = 0; round < rounds; round++) {
      for (const name of names) times.get(name)!.push(importMillis(script, pathOf(name)));
    }
    const median = (name: string) => times.get(name)!.sort((one, other) => one - other)[rounds >> 1]!;
    return names.map((name) => {
      const output = Object.entries(metafile.outputs).find(([path]) => path.endsWith(`${name}/index.mjs`))![1];
      return {
        name,
        kilobytes: statSync(pathOf(name)).size / 1024,
        medianMillis: median(name),
        minMillis: Math.min(...times.get(name)!),
        ratio: median(name) / median('ssm-only'),
        parts: partsOf(output.inputs),
      };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function importMillis(script: string, bundle: string): number {
  const { stdout, stderr } = spawnSync(process.execPath, [script, bundle], { env: environment, encoding: 'utf8' });
  const millis = Number(stdout);
  if (stdout === '' || Number.isNaN(millis)) throw new Error(`${bundle} cannot be imported: ${stderr}`);
  return millis;
}

/** What the functions read when they are imported; nothing is called. */
const environment = {
  AWS_REGION: 'us-east-1',
  STAGE: 'bench',
  GMS_URL: 'http://gms.example.com:8080',
  MODE: 'preview',
  MIN_RETENTION_DAYS: '7',
  MAX_RUN_HOURS: '12',
  LEDGER_TABLE: 'ledger',
  NIGHTS_TABLE: 'nights',
  TOKEN_PARAMETER: '/bench/token',
  POLICIES_PATH: '/bench/policies',
  PAUSED_PARAMETER: '/bench/paused',
  TOPIC_ARN: 'arn:aws:sns:us-east-1:111122223333:bench',
  NOTIFY: 'always',
  STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:bench',
  PARAMETER_PREFIX: '/bench',
};

function partsOf(inputs: Record<string, { bytesInOutput: number }>): Record<string, number> {
  const sums = new Map<string, number>();
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? 'own code';
    const group = /^@(aws-sdk|smithy|aws-crypto|aws)\//.test(name)
      ? 'AWS SDK'
      : name.replace(/^(@aws-lambda-powertools)\/.*/, '$1');
    sums.set(group, (sums.get(group) ?? 0) + bytesInOutput / 1024);
  }
  return Object.fromEntries([...sums].sort(([, one], [, other]) => other - one));
}
