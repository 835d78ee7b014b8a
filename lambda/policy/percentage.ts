/**
 * Compares a share of rows with a percentage, exactly: the policy's decimal number is taken literally, so that 29 of
 * 100 rows satisfy "at least 29 %", which floating point would deny.
 * @returns negative when part / whole is below `percent`, 0 when it is exactly that, positive when above
 */
export function compareShare(part: number, whole: number, percent: number): -1 | 0 | 1 {
  const [digits = '0', exponent = '0'] = percent.toExponential().split('e');
  const fraction = digits.split('.')[1] ?? '';
  const mantissa = BigInt(digits.replace('.', ''));
  const power = Number(exponent) - fraction.length;
  const scale = 10n ** BigInt(Math.abs(power));
  const left = BigInt(part) * 100n * (power < 0 ? scale : 1n);
  const right = mantissa * BigInt(whole) * (power < 0 ? 1n : scale);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** part / whole x 100, two decimals, for people; 0 of 0 is 0. */
export const percentOf = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100;
