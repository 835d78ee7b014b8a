import * as z from 'zod';
import { LedgerError } from '../ledger/ledger.ts';
import { capped, maxSentenceBytes } from '../operations/text.ts';

/** What the workflow passes on of a function that failed. */
export interface Failure<Step extends 'truncate' | 'poll' = 'truncate' | 'poll'> {
  step: Step;
  /** The error's name. */
  error: string;
  /**
   * All that was caught. Its cause may be missing; of Node's it holds a message and ten frames, for which a full run
   * state has room twice.
   */
  caught?: unknown;
}

const caughtSchema = z.object({ Error: z.literal(new LedgerError().name), Cause: z.string() });
/** Lambda's cause, once it is parsed. */
const causeSchema = z.object({ errorMessage: z.string() });

/**
 * The error's name. Of the ledger's, also its sentence: that one is ours, and says what to do. What other errors say
 * may be anything.
 */
export function errorOf(failure: Failure | undefined): string {
  if (!failure) return '';
  const { error, caught } = failure;
  try {
    const { errorMessage } = causeSchema.parse(JSON.parse(caughtSchema.parse(caught).Cause));
    return capped(`${error}: ${errorMessage}`, maxSentenceBytes);
  } catch {
    return capped(error);
  }
}
