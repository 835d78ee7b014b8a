import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleInto, functionNames } from '../../../infra/functions/bundles.ts';
import { functionEnvironment as environment } from '../../support/function-environment.ts';

const run = promisify(execFile);

describe('The bundles of the functions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  beforeAll(() => {
    bundleInto(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('are the same bytes each time, so that a deployment without a change changes nothing', () => {
    const again = mkdtempSync(join(tmpdir(), 'bundles-'));
    bundleInto(again);
    const bytes = (of: string) => functionNames.map((name) => readFileSync(join(of, name, 'index.mjs'), 'base64'));
    const [one, other] = [bytes(again), bytes(folder)];
    rmSync(again, { recursive: true });
    expect(one.every((each, at) => each === other[at])).toBe(true);
  });

  /** Imports all of them in a process of its own. */
  const started = async (env: Record<string, string | undefined>): Promise<string[]> => {
    const files = functionNames.map((name) => join(folder, name, 'index.mjs'));
    const script = `const found = await Promise.allSettled(${JSON.stringify(files)}.map((file) => import(file)));
      console.log(JSON.stringify(found.map(({ value, reason }) => reason?.message ?? typeof value.handler)))`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: folder, env });
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  };

  test('start outside this repository and have a handler', async () => {
    expect(await started(environment)).toEqual(functionNames.map(() => 'function'));
  });

  test('say which variable of their environment is missing', async () => {
    const { STAGE: _, ...rest } = environment;
    expect(await started(rest)).toEqual(
      functionNames.map((name) =>
        expect.stringContaining(`environment of the function ${name} lacks or misspells STAGE`),
      ),
    );
  });

  test.each(functionNames)('%s holds no path of the machine that made it, and stays below 1.5 MB', (name) => {
    const file = join(folder, name, 'index.mjs');
    expect(statSync(file).size).toBeLessThan(1_500_000);
    expect(readFileSync(file, 'utf8')).not.toContain(process.cwd());
  });
});
