import { judgingMutants } from './judging.ts';
import type { Mutant } from './mutant.ts';
import { sendingMutants } from './sending.ts';
import { tellingMutants } from './telling.ts';

/** Every safety rule switched off, one at a time; the campaign must notice each. */
export const mutants: readonly Mutant[] = [...sendingMutants, ...judgingMutants, ...tellingMutants];
