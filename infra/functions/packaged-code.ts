import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { FunctionName } from '../../lambda/aws/environment.ts';

/** The functions of the published package, which are in `lambda/` next to the construct. */
export function functionCode(name: FunctionName): Code {
  const folder = fileURLToPath(new URL(`./lambda/${name}`, import.meta.url));
  if (!existsSync(`${folder}/index.mjs`)) {
    throw new Error(`The package lacks the function ${folder}/index.mjs: remove node_modules and install it again.`);
  }
  return Code.fromAsset(folder);
}
