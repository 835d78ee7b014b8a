import { Code } from 'aws-cdk-lib/aws-lambda';
import type { FunctionCode } from '../../../infra/functions/function-code.ts';

/** Replaces `function-code.ts` when tests synthesize: what is in the functions does not matter to a template. */
export const functionCode = (): FunctionCode => {
  const none = () => Code.fromInline('// bundles.test.ts has the code');
  return { plan: none(), truncate: none(), poll: none(), report: none() };
};
