import { bundleInto } from '../../../infra/functions/bundles.ts';
import { codeIn, type FunctionCode } from '../../../infra/functions/function-code.ts';
import { onceForAll } from '../../support/once.ts';

/** Replaces `function-code.ts` when tests synthesize: the same bundles, made once for all threads. */

/** @returns their folder */
export const functionsBundledOnce = (): Promise<string> =>
  onceForAll('functions', (folder) => {
    bundleInto(folder);
    return folder;
  });

const folder = await functionsBundledOnce();

export const functionCode = (): FunctionCode => codeIn(folder);
