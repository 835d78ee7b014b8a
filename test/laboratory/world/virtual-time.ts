/**
 * Virtual time: a clock that jumps from event to event. Everything that waits in a history waits here, so that weeks
 * pass in milliseconds and the order of all that happens depends on the seed alone.
 */

interface Event {
  at: number;
  action: (() => void) | undefined;
}

export interface VirtualTime {
  /** Epoch milliseconds. */
  now(): number;
  /** Does something at a time (not before now); simultaneous events happen in the order in which they were planned. */
  at(millis: number, action: () => void): { cancel(): void };
  sleep(millis: number): Promise<void>;
  /** Lets events happen until `done` says yes. Throws when there is nothing left to happen. */
  run(done: () => boolean): Promise<void>;
  /** Lets events happen until a time, epoch milliseconds. */
  runUntil(millis: number): Promise<void>;
}

/** Captured before anything replaces it: the turn of the real event loop after which all microtasks have run. */
const nextTurn = setImmediate;
const quiescence = (): Promise<void> => new Promise((resolve) => nextTurn(resolve));

/** @param start epoch milliseconds */
export function createVirtualTime(start: number): VirtualTime {
  const events: Event[] = [];
  let now = start;
  const time: VirtualTime = {
    now: () => now,
    at(millis, action) {
      const event: Event = { at: Math.max(now, Math.ceil(millis)), action };
      insert(events, event);
      return {
        cancel: () => {
          event.action = undefined;
        },
      };
    },
    sleep: (millis) => new Promise((resolve) => time.at(now + millis, resolve)),
    async run(done) {
      await quiescence();
      while (!done()) {
        const event = events.pop();
        if (event === undefined) throw new Error('virtual time stands still: everybody waits, and for nothing');
        if (event.action === undefined) continue;
        now = event.at;
        event.action();
        await quiescence();
      }
    },
    async runUntil(millis) {
      time.at(millis, () => {});
      await time.run(() => now >= millis);
    },
  };
  return time;
}

/**
 * Replaces the global timers by virtual ones while `body` runs: the core's own (a signal that fires at a deadline) then
 * fire in virtual time, to the millisecond. Vitest keeps the real ones for itself.
 */
export async function withVirtualTimers<T>(time: VirtualTime, body: () => Promise<T>): Promise<T> {
  const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  const handles = new WeakSet<object>();
  const setVirtual = (action: (...args: unknown[]) => void, millis = 0, ...args: unknown[]) => {
    const handle = time.at(time.now() + millis, () => action(...args));
    handles.add(handle);
    return handle;
  };
  const clearVirtual = (handle: unknown) => {
    if (typeof handle === 'object' && handle !== null && handles.has(handle)) (handle as { cancel(): void }).cancel();
    else real.clearTimeout(handle as never);
  };
  Object.assign(globalThis, { setTimeout: setVirtual, clearTimeout: clearVirtual });
  try {
    return await body();
  } finally {
    Object.assign(globalThis, real);
  }
}

/** Keeps the events in the order in which they happen, the next one last. */
function insert(events: Event[], event: Event): void {
  let [from, to] = [0, events.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    // Of simultaneous events the first to be planned comes first.
    if ((events[middle]?.at ?? 0) > event.at) from = middle + 1;
    else to = middle;
  }
  events.splice(from, 0, event);
}
