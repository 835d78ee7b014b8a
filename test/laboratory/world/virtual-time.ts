/**
 * Virtual time: a clock that jumps from event to event. Everything that waits in a history waits here, so that weeks
 * pass in milliseconds and the order of all that happens depends on the seed alone.
 */

interface Event {
  at: number;
  order: number;
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
  const heap: Event[] = [];
  let now = start;
  let order = 0;
  const time: VirtualTime = {
    now: () => now,
    at(millis, action) {
      const event: Event = { at: Math.max(now, Math.ceil(millis)), order: order++, action };
      push(heap, event);
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
        const event = pop(heap);
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

const before = (left: Event, right: Event): boolean =>
  left.at < right.at || (left.at === right.at && left.order < right.order);

function push(heap: Event[], event: Event): void {
  let place = heap.length;
  heap.push(event);
  while (place > 0) {
    const parent = (place - 1) >> 1;
    if (!before(event, heap[parent]!)) break;
    heap[place] = heap[parent]!;
    place = parent;
  }
  heap[place] = event;
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
    if (!before(heap[child]!, last)) break;
    heap[place] = heap[child]!;
    place = child;
  }
  heap[place] = last;
  return first;
}
