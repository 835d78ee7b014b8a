/** The three forms that a receiver has to read (RFC 9110 §5.6.7): as servers must write it, and the two old ones. */
const forms =
  /[a-z]{3}, \d{2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} GMT|[a-z]{6,9}, \d{2}-[a-z]{3}-\d{2} \d{2}:\d{2}:\d{2} GMT|[a-z]{3} [a-z]{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}/gi;

/**
 * The dates of a header. All are UTC, also in the form of asctime, which does not say so and would be read in the
 * machine's own zone.
 * @param header several headers joined by commas; dates hold a comma themselves
 * @returns epoch milliseconds; empty if there is none that can be read
 */
export const httpDates = (header: string): number[] =>
  (header.match(forms) ?? [])
    .map((text) => Date.parse(text.endsWith('GMT') ? text : `${text} GMT`))
    .filter((millis) => !Number.isNaN(millis));
