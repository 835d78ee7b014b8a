import { expect } from 'vitest';
import { UsageError } from '../../../cli/events/mistakes.ts';

/** The sentence with which an action is refused. */
export function problemOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as UsageError).message;
  }
  throw new Error('It was taken.');
}
