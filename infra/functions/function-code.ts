import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { FunctionName } from '../../lambda/aws/environment.ts';
import { bundleInto } from './bundles.ts';

let bundles: string | undefined;

/**
 * The code of a function; all are bundled once per process. The published package contains the bundles: its build puts
 * `packaged-code.ts` in this module's place, so that an app that uses the construct needs no esbuild.
 */
export function functionCode(name: FunctionName): Code {
  bundles ??= bundleAside();
  return Code.fromAsset(join(bundles, name));
}

/** CDK copies an asset when the construct is created; this copy is not needed after the process ends. */
function bundleAside(): string {
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  bundleInto(folder);
  return folder;
}
