import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../lambda/truncation/clock.ts';

/**
 * Time that passes only when everything is waiting for it: a day takes as long as its steps take to compute. Sleepers
 * are woken in order of time, so that concurrent code stays concurrent. For code that waits for nothing but this clock.
 */
export class VirtualTime implements Clock {
  private time: number;
  private sleepers: { at: number; wake: () => void }[] = [];
  private waking = false;

  /** @param start epoch milliseconds */
  constructor(start: number) {
    this.time = start;
  }

  now = (): number => this.time;
  monotonic = (): number => this.time;

  sleep = (millis: number): Promise<void> =>
    new Promise((wake) => {
      const at = this.time + Math.max(0, millis);
      const after = this.sleepers.findIndex((other) => other.at > at);
      this.sleepers.splice(after < 0 ? this.sleepers.length : after, 0, { at, wake });
      if (!this.waking) void this.wakeAll();
    });

  /** For waits that have been accounted for elsewhere. Nothing may be asleep. */
  advance(millis: number): void {
    if (this.sleepers.length > 0) throw new Error('time cannot be moved on past those who sleep');
    this.time += millis;
  }

  private async wakeAll(): Promise<void> {
    this.waking = true;
    // One turn of the event loop each: woken code runs until it sleeps or ends.
    for (await setImmediate(); this.sleepers.length > 0; await setImmediate()) {
      const next = this.sleepers.shift()!;
      this.time = Math.max(this.time, next.at);
      next.wake();
    }
    this.waking = false;
  }
}
