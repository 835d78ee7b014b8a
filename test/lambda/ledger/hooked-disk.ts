import type * as fs from 'node:fs';

/** The file system of `vi.mock('node:fs')`, in which a test can stop or intervene before each call. */
export interface HookedDisk {
  /** Called before each call. */
  before: (call: string) => void;
  /** How many bytes can still be written until the disk is full or the process is killed. */
  room: number;
  /** Called then. */
  whenFull: () => void;
}

export const freeDisk = (): HookedDisk => ({
  before() {},
  room: Number.POSITIVE_INFINITY,
  whenFull() {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  },
});

export function hookDisk(real: typeof fs, disk: HookedDisk): typeof fs {
  const hooked = Object.entries(real).map(([name, value]) => {
    if (typeof value !== 'function' || !name.endsWith('Sync')) return [name, value];
    const call = value as (...given: unknown[]) => unknown;
    return [
      name,
      (...given: unknown[]) => {
        disk.before(name);
        return call(...given);
      },
    ];
  });
  const writeSync = (descriptor: number, bytes: Buffer, at = 0): number => {
    disk.before('writeSync');
    const length = Math.min(bytes.length - at, disk.room);
    disk.room -= length;
    const written = length > 0 ? real.writeSync(descriptor, bytes, at, length) : 0;
    if (written === 0) disk.whenFull();
    return written;
  };
  return { ...real, ...Object.fromEntries(hooked), writeSync } as typeof fs;
}
