/**
 * The wire is written once for two engines: the simulated one answers at once, so that weeks of virtual time pass in
 * milliseconds, and a real one answers later. The wire calls the engine with `yield* step(…)`, which reads like an
 * await; the driver of the steps decides whether to wait.
 */

export type Eventually<T> = T | Promise<T>;

export type Steps<T> = Generator<unknown, T, unknown>;

/** One request to the engine, and its answer. */
export function* step<T>(value: Eventually<T>): Steps<T> {
  return (yield value) as T;
}

/** Drives the steps of an engine that answers at once. Throws what they throw. */
export function atOnce<T>(steps: Steps<T>): T {
  let next = steps.next();
  while (!next.done) {
    if (next.value instanceof Promise) throw new Error('an engine that should answer at once returned a promise');
    next = steps.next(next.value);
  }
  return next.value;
}

/** Drives the steps of an engine that answers later. */
export async function inTime<T>(steps: Steps<T>): Promise<T> {
  let next = steps.next();
  while (!next.done) {
    try {
      const answer = await next.value;
      next = steps.next(answer);
    } catch (error) {
      next = steps.throw(error);
    }
  }
  return next.value;
}
