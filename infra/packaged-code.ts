import { fileURLToPath } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { FunctionCode } from './function-code.ts';

/** The functions of the published package, which stand in `lambda/` beside the construct. */
export function functionCode(): FunctionCode {
  const bundle = (name: string) => Code.fromAsset(fileURLToPath(new URL(`./lambda/${name}`, import.meta.url)));
  return { plan: bundle('plan'), truncate: bundle('truncate'), poll: bundle('poll'), report: bundle('report') };
}
