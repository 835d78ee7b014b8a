import type { Mutant } from './mutant.ts';

/** Every safety rule switched off, one at a time; the campaign must notice each. */
export const mutants: readonly Mutant[] = [];
