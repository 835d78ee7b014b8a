import { expect, test } from 'vitest';
import { maxSentenceBytes } from '../../../lambda/gms/text.ts';
import { errorOf } from '../../../lambda/run/failure.ts';

/** What a report says of a function that failed: as the workflow passes on what AWS Lambda has answered. */

const said = (error: string, Cause?: string) =>
  errorOf({ step: 'poll', error, caught: { Error: error, ...(Cause !== undefined && { Cause }) } });
const cause = (errorMessage: string) => JSON.stringify({ errorType: 'LedgerError', errorMessage, trace: ['at x'] });

test.each([
  ['the sentence of the ledger', 'LedgerError', cause('the disk is full'), 'LedgerError: the disk is full'],
  ['no sentence of another error, which may say anything', 'TypeError', cause('of a secret'), 'TypeError'],
  ['the name alone where there is no cause', 'LedgerError', undefined, 'LedgerError'],
  ['the name alone where its cause was cut', 'LedgerError', cause('full').slice(0, -3), 'LedgerError'],
  ['the name of a function that ran out of time', 'States.Timeout', '', 'States.Timeout'],
])('%s', (_, error, given, expected) => {
  expect(said(error, given)).toBe(expected);
});

test('no more of a sentence than there is room for', () => {
  expect(Buffer.byteLength(said('LedgerError', cause('x'.repeat(9999))))).toBe(maxSentenceBytes);
});
