import { Code } from 'aws-cdk-lib/aws-lambda';

/** Replaces `function-code.ts` when tests synthesize: what is in the functions does not matter to a template. */
export const functionCode = (): Code => Code.fromInline('// bundles.test.ts has the code');
