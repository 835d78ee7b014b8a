/**
 * The rows of one physical index, known row by row.
 *
 * What is stored and what a search sees differ until a refresh, as in the search engine: an added row is not found yet,
 * a deleted row is still found.
 */

const ALIVE = 1;
const VISIBLE = 2;

export interface Row {
  /** Unique in the whole service; a copy of a row keeps its id. */
  id: number;
  /** Epoch milliseconds; NaN for a row that has no `timestampMillis`. */
  timestamp: number;
}

const isAway = (id: number, shards: number): boolean => id % shards === 0;

export class RowStore {
  private ids: Uint32Array;
  private timestamps: Float64Array;
  private flags: Uint8Array;
  private used = 0;
  private dirty = false;
  /** Number of existing rows, whether a search finds them or not. */
  alive = 0;

  constructor(capacity = 16) {
    this.ids = new Uint32Array(capacity);
    this.timestamps = new Float64Array(capacity);
    this.flags = new Uint8Array(capacity);
  }

  add(id: number, timestamp: number): void {
    if (this.used === this.ids.length) this.grow();
    this.ids[this.used] = id;
    this.timestamps[this.used] = timestamp;
    this.flags[this.used] = ALIVE;
    this.used++;
    this.alive++;
    this.dirty = true;
  }

  /** @returns false if the row was already gone. */
  remove(position: number): boolean {
    if ((this.flags[position]! & ALIVE) === 0) return false;
    this.flags[position]! &= ~ALIVE;
    this.alive--;
    this.dirty = true;
    return true;
  }

  /** Lets searches see what is stored. */
  refresh(): void {
    if (!this.dirty) return;
    for (let position = 0; position < this.used; position++) {
      this.flags[position] = (this.flags[position]! & ALIVE) === 0 ? 0 : ALIVE | VISIBLE;
    }
    this.dirty = false;
  }

  /**
   * What a search counts: rows in all, and rows with a timestamp at or before the cutoff.
   * @param shards one of this many is unavailable, and its rows with it
   */
  count(cutoff: number, shards?: number): { matching: number; total: number } {
    let matching = 0;
    let total = 0;
    for (let position = 0; position < this.used; position++) {
      if ((this.flags[position]! & VISIBLE) === 0) continue;
      if (shards !== undefined && isAway(this.ids[position]!, shards)) continue;
      total++;
      if (this.timestamps[position]! <= cutoff) matching++;
    }
    return { matching, total };
  }

  /** Positions of the rows that a search finds at or before the cutoff, or (`after`) later than it. */
  search(cutoff: number, side: 'until' | 'after'): Uint32Array {
    const found = new Uint32Array(this.used);
    let length = 0;
    for (let position = 0; position < this.used; position++) {
      if ((this.flags[position]! & VISIBLE) === 0) continue;
      const timestamp = this.timestamps[position]!;
      // Not each other's opposite: a row without a timestamp (NaN) matches neither.
      if (side === 'until' ? timestamp <= cutoff : timestamp > cutoff) found[length++] = position;
    }
    return found.slice(0, length);
  }

  at(position: number): Row {
    return { id: this.ids[position]!, timestamp: this.timestamps[position]! };
  }

  /** Every existing row, in order of arrival. */
  *rows(): Generator<Row & { position: number }> {
    for (let position = 0; position < this.used; position++) {
      if ((this.flags[position]! & ALIVE) === 0) continue;
      yield { id: this.ids[position]!, timestamp: this.timestamps[position]!, position };
    }
  }

  /** Every row that a search finds, including those deleted since the last refresh. */
  *found(): Generator<Row> {
    for (let position = 0; position < this.used; position++) {
      if ((this.flags[position]! & VISIBLE) !== 0) yield this.at(position);
    }
  }

  private grow(): void {
    const capacity = Math.max(16, this.ids.length * 2);
    const larger = <T extends { set(from: T): void }>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.ids = larger(new Uint32Array(capacity), this.ids);
    this.timestamps = larger(new Float64Array(capacity), this.timestamps);
    this.flags = larger(new Uint8Array(capacity), this.flags);
  }
}
