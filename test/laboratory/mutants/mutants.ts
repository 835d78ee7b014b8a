import { decidingMutants } from './deciding.ts';
import { findMutants } from './finds.ts';
import type { Mutant, Replacement } from './mutant.ts';
import { keyOf } from './replaced.ts';
import { sayingMutants } from './saying.ts';
import { sendingMutants } from './sending.ts';
import { watchingMutants } from './watching.ts';

/**
 * The core with one of the safety rules (docs/testing.md) switched off, or with one of the finds brought back. The checker must
 * find a violation with every one of them; one that no longer fits the core fails the command, and `npm test`.
 */
export const mutants: readonly Mutant[] = [
  ...decidingMutants,
  ...sendingMutants,
  ...watchingMutants,
  ...sayingMutants,
  ...findMutants,
];

/** What takes a function's place in a bundle (`replaced.ts`). */
export function replacement(key: string): Replacement['mutate'] {
  for (const mutant of mutants) {
    const found = mutant.patches.find((patch) => keyOf(mutant, patch) === key);
    if (found?.kind === 'function') return found.mutate;
  }
  throw new Error(`no mutant replaces anything by the key ${key}`);
}
