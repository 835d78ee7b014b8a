import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { FunctionName } from '../../lambda/aws/environment.ts';
import { bundleInto } from './bundles.ts';

export type FunctionCode = Record<FunctionName, Code>;

let bundles: string | undefined;

/**
 * The code of the functions, bundled once per process. The published package contains the bundles: its build puts
 * `packaged-code.ts` in this module's place, so that an app that uses the construct needs no esbuild.
 */
export function functionCode(): FunctionCode {
  bundles ??= bundleAside();
  return codeIn(bundles);
}

/** @param folder holds `<name>/index.mjs` for each function */
export const codeIn = (folder: string): FunctionCode => {
  const code = (name: FunctionName) => Code.fromAsset(join(folder, name));
  return { plan: code('plan'), truncate: code('truncate'), poll: code('poll'), report: code('report') };
};

/** CDK copies an asset when the construct is created; this copy is not needed after the process ends. */
function bundleAside(): string {
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  bundleInto(folder);
  return folder;
}
