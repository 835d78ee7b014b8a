import { type SampleIndex, timestampsOf } from './samples.ts';

/** The rows of one index, as sorted timestamps in epoch milliseconds: all that the service needs to know of a row. */
export class Rows {
  #sorted: Float64Array;
  readonly entityType: string;
  readonly aspect: string;

  constructor(sample: SampleIndex, now: number) {
    this.entityType = sample.entityType;
    this.aspect = sample.aspect;
    // One seed: the same rows at every start.
    this.#sorted = Float64Array.from(timestampsOf(sample, 1, now)).sort();
  }

  get total(): number {
    return this.#sorted.length;
  }

  before(millis: number): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? 0) < millis) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  since(millis: number): Float64Array {
    return this.#sorted.slice(this.before(millis));
  }

  removeOldest(count: number): void {
    this.#sorted = this.#sorted.slice(count);
  }

  /** Another index takes the place of this one, with these rows alone. */
  replace(sorted: Float64Array): void {
    this.#sorted = sorted;
  }

  add(timestamps: Iterable<number>): void {
    this.#sorted = Float64Array.from([...this.#sorted, ...timestamps]).sort();
  }
}

/** The name that the service finds an index by: lower case, joined with an underscore. */
export const indexKey = (entityType: string, aspect: string): string =>
  `${entityType}_${aspect}aspect_v1`.toLowerCase();
