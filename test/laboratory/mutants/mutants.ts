import { decidingMutants } from './deciding.ts';
import { findMutants } from './finds.ts';
import type { Mutant } from './mutant.ts';
import { sayingMutants } from './saying.ts';
import { sendingMutants } from './sending.ts';
import { watchingMutants } from './watching.ts';

/**
 * The core with one of the safety rules (docs/testing.md) switched off, or with one of the finds brought back. The checker must
 * find a violation with every one of them; a patch that no longer matches fails the command, and `npm test`.
 */
export const mutants: readonly Mutant[] = [
  ...decidingMutants,
  ...sendingMutants,
  ...watchingMutants,
  ...sayingMutants,
  ...findMutants,
];
