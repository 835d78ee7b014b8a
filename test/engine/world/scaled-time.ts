import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { read, scaledNow, variable } from './clock.ts';

/**
 * Loaded before the command line (`--import`), which is otherwise as it ships: its clocks run faster, and its waits are
 * shorter by the same factor. The HTTP client's own timeouts stay real, because the server is.
 */

const clock = read(process.env[variable] ?? '');
const RealDate = Date;
const real = {
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  wait: timersPromises.setTimeout,
  performanceNow: performance.now.bind(performance),
  hrtime: process.hrtime.bigint,
};
const now = () => scaledNow(clock, RealDate.now());

globalThis.Date = class extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(now());
    else super(...(given as [number]));
  }
  static override now = now;
} as DateConstructor;

const began = real.performanceNow();
performance.now = () => began + (real.performanceNow() - began) * clock.factor;
process.hrtime.bigint = () => real.hrtime() * BigInt(clock.factor);

const wire = /[\\/](?:undici|http-transport\.ts|node:net|node:_http)/;
const scaled = (millis = 0): number => (wire.test(new Error().stack ?? '') ? millis : millis / clock.factor);
const patched = {
  setTimeout: (action: () => void, millis?: number, ...rest: []) => real.setTimeout(action, scaled(millis), ...rest),
  setInterval: (action: () => void, millis?: number, ...rest: []) => real.setInterval(action, scaled(millis), ...rest),
};
Object.assign(globalThis, patched);
Object.assign(timersPromises, {
  setTimeout: (millis: number | undefined, ...rest: []) => real.wait(scaled(millis), ...rest),
});
AbortSignal.timeout = (millis) => {
  const controller = new AbortController();
  real.setTimeout(() => controller.abort(new DOMException('timed out', 'TimeoutError')), scaled(millis)).unref();
  return controller.signal;
};
syncBuiltinESMExports();
