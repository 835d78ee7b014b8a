import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Modules, connections and files that are open at the same time, and half of it to spare. */
const openFiles = 64;

/** What the system does not give this program, as a sentence with the remedy; undefined if nothing is missing. */
export function whyNotStarted() {
  const opened = [];
  try {
    process.cwd();
    while (opened.length < openFiles) opened.push(openSync(fileURLToPath(import.meta.url)));
    return undefined;
  } catch ({ code, syscall, message }) {
    if (syscall === 'uv_cwd') return 'The folder in which this program was started is gone: change to another one.';
    if (code !== 'EMFILE' && code !== 'ENFILE') return message;
    return 'The system lets this program open too few files: raise the limit (ulimit -n 1024).';
  } finally {
    for (const file of opened) closeSync(file);
  }
}
