import * as z from 'zod';
import { capped, maxSentenceBytes } from '../gms/text.ts';
import { LedgerError } from '../ledger/ledger.ts';

/** What the workflow passes on about a function that failed. */
export interface Failure<Step extends 'truncate' | 'poll' = 'truncate' | 'poll'> {
  step: Step;
  error: string;
  /**
   * The error as the workflow caught it. Its `Cause` may be missing. Node's has a message and ten stack frames; a full
   * run state has room for two such errors.
   */
  caught?: unknown;
}

const caughtSchema = z.object({ Error: z.literal(new LedgerError().name), Cause: z.string() });
/** Lambda's cause, once it is parsed. */
const causeSchema = z.object({ errorMessage: z.string() });

/**
 * The error's name and, for a LedgerError, its message, which is ours and says what to do. Other messages may hold
 * anything.
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
