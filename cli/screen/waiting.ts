import type { OperationName } from '../../lambda/facts/server-error.ts';
import { duration } from '../../lambda/wording/numbers.ts';
import type { Pending } from '../run/observed.ts';

/** What is otherwise invisible: a slow request with its limit, and how far counting has got. */

export interface Counted {
  done: number;
  of: number;
  /** Epoch milliseconds. */
  since: number;
}

/** A request is mentioned once it has taken this long. */
const slowSeconds = 2;

/**
 * The same in several lengths, the longest first.
 * @param now epoch milliseconds
 */
export function waitingForms(pending: Pending | undefined, counted: Counted | undefined, now: number): string[] {
  const counts = counted && `${counted.done} of ${counted.of} indices counted`;
  const isSlow = pending !== undefined && secondsSince(pending, now) >= slowSeconds;
  if (pending === undefined || (counted !== undefined && !isSlow)) {
    return counted === undefined ? [] : [`${counts}${passed(counted, now)}`];
  }
  const { operation, index } = pending;
  const what = `${asked[operation]}${index === undefined ? '' : ` of ${index}`}`;
  const subject = index ?? asked[operation];
  const [time, tries] = isSlow ? [`, ${limitOf(pending, now)}`, triesOf(pending)] : ['', ''];
  return counted === undefined
    ? [`Waiting for the server: ${what}${time}${tries}`, `${what}${time}${tries}`, `${subject}${time}`]
    : [
        `${counts}; waiting for ${what}${time}${tries}`,
        `${counted.done} of ${counted.of} counted; ${what}${time}${tries}`,
        `${counted.done} of ${counted.of} counted; ${subject}${time}${tries}`,
        `${subject}${time}${tries}`,
        `${subject}${time}`,
      ];
}

const secondsSince = ({ since }: { since: number }, now: number): number => Math.floor((now - since) / 1000);

const passed = (counted: Counted, now: number): string => {
  const seconds = secondsSince(counted, now);
  return seconds < slowSeconds ? '' : ` (${seconds} s)`;
};

const limitOf = (pending: Pending, now: number): string =>
  `${secondsSince(pending, now)} s of at most ${duration(pending.limitMillis / 1000)}`;

const triesOf = ({ attempt, attempts }: Pending): string =>
  attempts === 1 ? '' : `, ${ordinals[attempt - 1] ?? `no. ${attempt}`} of ${attempts} tries`;

const ordinals = ['first', 'second', 'third', 'fourth'];

const asked: Record<OperationName, string> = {
  'dry-run': 'a dry run',
  truncate: 'the start of a truncation',
  'task-status': 'the status of a task',
  'index-sizes': 'the sizes of its indices',
};
