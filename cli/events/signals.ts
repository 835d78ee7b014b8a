import { fstatSync, statSync } from 'node:fs';
import { devNull } from 'node:os';

/** Exit statuses as shells use them: 128 plus the signal's number. */
const statuses = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** What `retention` sets: the signals that were ignored when it was started. Node itself forgets that (`nohup`). */
const ignoredVariable = 'DATAHUB_RETENTION_IGNORED_SIGNALS';

/**
 * The signals that end this program, with its exit status. One that was ignored at its start stays ignored. Where no
 * terminal shows any of the output, as after `nohup`, a terminal that is closed ends nothing.
 */
export function endingSignals(env: NodeJS.ProcessEnv = process.env): Array<[signal: NodeJS.Signals, status: number]> {
  const ignored = new Set((env[ignoredVariable] ?? '').split(' '));
  if ([1, 2].every(isKept)) ignored.add('SIGHUP');
  return Object.entries(statuses).filter(([signal]) => !ignored.has(signal)) as Array<[NodeJS.Signals, number]>;
}

/** In a file, or nowhere. */
function isKept(descriptor: number): boolean {
  const stats = fstatSync(descriptor);
  return stats.isFile() || isNull(stats);
}

const isNull = (stats: ReturnType<typeof fstatSync> | undefined): boolean =>
  stats?.isCharacterDevice() === true && stats.rdev === statSync(devNull).rdev;

/** Whether a file is the null device, which Node also puts in the place of an output that is closed. */
export function isNullDevice(file: number | string): boolean {
  try {
    return isNull(typeof file === 'number' ? fstatSync(file) : statSync(file));
  } catch {
    // What is wrong with it is said where it is opened.
    return false;
  }
}

/** Handlers for the process itself: without one, a signal ends it, or opens a debugger to everyone on this machine. */
export function handleSignals(): void {
  const ending = endingSignals();
  for (const signal of [...Object.keys(statuses), 'SIGUSR1'] as NodeJS.Signals[]) {
    const status = ending.find(([name]) => name === signal)?.[1];
    process.on(signal, () => {
      // A run has a handler of its own, which says what continues without it.
      if (status !== undefined && process.listenerCount(signal) === 1) process.exit(status);
    });
  }
}
