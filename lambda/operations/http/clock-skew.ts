/** One HTTP date in the form that servers must use (RFC 9110, IMF-fixdate). */
const httpDate = /[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT/g;

/**
 * The server's clock minus ours, by its `Date` header. A proxy may add a header of its own: of several dates the one
 * furthest from our clock is used, because a wrong clock deletes fresh rows.
 * @param header several headers joined by commas; dates hold a comma themselves
 * @param now real time, epoch milliseconds
 * @returns milliseconds; undefined without a readable date
 */
export function clockSkew(header: string | undefined, now: number): number | undefined {
  const dates = header?.match(httpDate) ?? (header === undefined ? [] : [header]);
  const skews = dates.map((date) => Date.parse(date) - now).filter((skew) => !Number.isNaN(skew));
  return skews.length === 0 ? undefined : skews.reduce((one, other) => (Math.abs(other) > Math.abs(one) ? other : one));
}
