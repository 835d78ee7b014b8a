/**
 * A date of a header, in any of the three forms that a receiver has to read (RFC 9110 §5.6.7). All are UTC, also that
 * of asctime, which does not say so.
 * @returns epoch milliseconds; undefined if it cannot be read
 */
export function httpDate(text: string): number | undefined {
  const millis = Date.parse(/ GMT$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(millis) ? undefined : millis;
}
