import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';

/**
 * What is costly to make and the same for every file of tests: the first thread that asks makes it, and the others read
 * what it left.
 * @param name of a file, once for each thing
 * @param make gives something that JSON can say; it may write to the folder that it is given the path of
 */
export async function onceForAll<Made>(name: string, make: (folder: string) => Made | Promise<Made>): Promise<Made> {
  const folder = inject('shared');
  const file = join(folder, `${name}.json`);
  if (isFirst(`${file}.lock`)) {
    const made = await Promise.resolve()
      .then(() => make(join(folder, name)))
      .then((value) => ({ value }))
      .catch((error: unknown) => ({ failed: String(error) }));
    // In one step: nobody reads half of it.
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
