import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';

/**
 * Shares something expensive between test files: the first thread that needs it makes it, and the others read the
 * result.
 * @param name a file name, unique for each thing
 * @param make returns a JSON value; it may also write to the folder whose path it gets
 */
export async function onceForAll<Made>(name: string, make: (folder: string) => Made | Promise<Made>): Promise<Made> {
  const folder = inject('shared');
  const file = join(folder, `${name}.json`);
  if (isFirst(`${file}.lock`)) {
    const made = await Promise.resolve()
      .then(() => make(join(folder, name)))
      .then((value) => ({ value }))
      .catch((error: unknown) => ({ failed: String(error) }));
    // Atomic, so that no other thread reads half of it.
    writeFileSync(`${file}.part`, JSON.stringify(made));
    renameSync(`${file}.part`, file);
  }
  while (!existsSync(file)) await sleep(5);
  const made = JSON.parse(readFileSync(file, 'utf8')) as { value: Made } | { failed: string };
  if ('failed' in made) throw new Error(made.failed);
  return made.value;
}

function isFirst(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx'));
    return true;
  } catch {
    return false;
  }
}
