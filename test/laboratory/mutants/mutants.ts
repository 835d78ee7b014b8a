import { decidingMutants } from './deciding.ts';
import { findMutants } from './finds.ts';
import type { Mutant, Replacement } from './mutant.ts';
import { nameOf } from './replaced.ts';
import { sayingMutants } from './saying.ts';
import { sendingMutants } from './sending.ts';
import { watchingMutants } from './watching.ts';

/**
 * The core with one of the safety rules (docs/testing.md) switched off, or with one of the finds brought back. The
 * checker must find a violation for each one; a mutant that no longer fits the core fails the command, and `npm test`.
 */
export const mutants: readonly Mutant[] = [
  ...decidingMutants,
  ...sendingMutants,
  ...watchingMutants,
  ...sayingMutants,
  ...findMutants,
];

/** What a bundle calls instead of a replaced function (`replaced.ts`). */
export function mutateOf(key: string): Replacement['mutate'] {
  for (const mutant of mutants) {
    const found = mutant.replacements.find((replacement) => nameOf(mutant, replacement) === key);
    if (found) return found.mutate;
  }
  throw new Error(`no mutant replaces anything by the key ${key}`);
}
