/** A line of values over time in block characters: blank if nothing is remembered, `_` if the value is 0. */

export interface Seen {
  /** Epoch milliseconds. */
  at: number;
  value: number;
}

export interface Sparkline {
  text: string;
  /** The highest value is at least a thousand times the lowest above 0: each step is a factor, not an amount. */
  isLog: boolean;
}

const blocks = '▁▂▃▄▅▆▇█';
const logFrom = 1000;

/**
 * @param span the first and the last moment
 * @param width columns; if several values fall into one, `join` combines them
 */
export function sparkline(
  seen: readonly Seen[],
  [from, to]: readonly [from: number, to: number],
  width: number,
  join: (one: number, other: number) => number = (_, later) => later,
): Sparkline {
  const columns = new Map<number, number>();
  for (const { at, value } of seen) {
    const column = to === from ? 0 : Math.round(((at - from) / (to - from)) * (width - 1));
    const before = columns.get(column);
    columns.set(column, before === undefined ? value : join(before, value));
  }
  const values = [...columns.values()];
  const highest = Math.max(0, ...values);
  const lowest = Math.min(highest, ...values.filter((value) => value > 0));
  const isLog = lowest > 0 && highest / lowest >= logFrom;
  const share = (value: number) => (isLog ? Math.log(value / lowest) / Math.log(highest / lowest) : value / highest);
  const letter = (value: number | undefined) => {
    if (value === undefined) return ' ';
    return value <= 0 ? '_' : blocks[Math.min(blocks.length - 1, Math.floor(share(value) * blocks.length))]!;
  };
  const text = Array.from({ length: Math.max(0, ...columns.keys()) + 1 }, (_, at) => letter(columns.get(at))).join('');
  return { text: seen.length === 0 ? '' : text, isLog };
}
