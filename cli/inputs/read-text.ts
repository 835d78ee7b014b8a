import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { looksSecret } from '../command-line/given-secret.ts';
import { fileProblem, problemOfFile, UsageError } from '../events/mistakes.ts';

/** Far more than any of the files that we read. */
const maxBytes = 4 * 1024 * 1024;

/** How long a pipe may stay silent: while it reads, the program cannot even react to SIGTERM. */
const pipeTimeoutMillis = 5_000;

/** A file that the command line names, or a pipe. @throws UsageError */
export function readText(path: string, option: string, timeoutMillis = pipeTimeoutMillis): string {
  try {
    return readGuarded(path, timeoutMillis);
  } catch (error) {
    const { problem, remedy = 'check the path' } = problemOfFile(error);
    throw new UsageError(`${option}: ${path} cannot be read (${problem}); ${remedy}.`);
  }
}

/**
 * Every file that others write is read here: a pipe or a device in its place cannot block the program.
 * @param timeoutMillis how long a pipe may stay silent; without it, a pipe is no file
 * @throws an error for `problemOfFile`
 */
export function readGuarded(path: string, timeoutMillis?: number): string {
  let file: number | undefined;
  try {
    // Without a writer, a pipe would block here.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    const isPipe = stats.isFIFO() && timeoutMillis !== undefined;
    if (!stats.isFile() && !isPipe && !stats.isDirectory()) throw fileProblem('it is neither a file nor a pipe');
    return readAll(file, isPipe ? timeoutMillis : undefined).toString('utf8');
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** @param timeoutMillis for a pipe */
function readAll(file: number, timeoutMillis?: number): Buffer {
  const parts: Buffer[] = [];
  const buffer = Buffer.alloc(64 * 1024);
  let size = 0;
  let waited = 0;
  for (;;) {
    const read = readSome(file, buffer);
    // A pipe whose writer has not begun is at its end, too.
    if (read === undefined || (read === 0 && timeoutMillis !== undefined && size === 0)) {
      if (waited >= (timeoutMillis ?? 0))
        throw fileProblem(`nothing came out of it for ${waited / 1000} s`, 'name a file');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      waited += 20;
      continue;
    }
    if (read === 0) return Buffer.concat(parts);
    size += read;
    if (size > maxBytes) throw fileProblem('it is larger than 4 MB', 'name the right file');
    parts.push(Buffer.from(buffer.subarray(0, read)));
  }
}

/** @returns undefined where nothing is there yet */
function readSome(file: number, buffer: Buffer): number | undefined {
  try {
    return readSync(file, buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

/** The text of a file that should hold a secret. Its name may be the secret itself, and is then not shown. */
export function readSecret(path: string, option: string, timeoutMillis?: number): string {
  if (looksSecret(path)) {
    throw new UsageError(
      `${option} takes the name of a file: put what you gave into one, and the name of that here (every user of this machine can read command lines).`,
    );
  }
  const text = readText(path, option, timeoutMillis);
  // PowerShell's > writes UTF-16.
  if (/^\ufffd\ufffd|\0/.test(text)) {
    throw new UsageError(
      `${option}: ${path} is not text in UTF-8: save it as UTF-8 (in PowerShell: Set-Content -Encoding ascii), and certificates and keys as PEM (from a .p12 or .pfx: openssl pkcs12 -nodes).`,
    );
  }
  return text;
}

/** Reads it again each time, but for a pipe, which can be read once. */
export function readAgain<Value>(path: string, read: () => Value): () => Value {
  let last: { value: Value; isPipe: boolean } | undefined;
  return () => {
    if (!last?.isPipe) {
      last = { value: read(), isPipe: statSync(path, { throwIfNoEntry: false })?.isFIFO() === true };
    }
    return last.value;
  };
}

/** A mounted file is renewed while a run goes on; if the new one cannot be used, the last one stays. */
export function lastUsable<Value>(read: () => Value): () => Value {
  let last = read();
  return () => {
    try {
      last = read();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
    }
    return last;
  };
}

/**
 * A remark about a file with a secret that everybody can read; undefined if all is fine. Nobody else is in a container: a
 * secret that Kubernetes mounts is recognized by the dated folder behind its link (`..2026_11_21_03_30_00.123`).
 * @param path as it was given, of a file that has been read
 */
export function othersCanRead(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  const isExposed = process.getuid && stats?.isFile() && (stats.mode & 0o004) !== 0;
  if (!isExposed || /\/\.\.\d{4}_\d{2}_\d{2}_/.test(realpathSync(path))) return undefined;
  return `Other users of this machine can read ${path}: chmod 600 ${path}`;
}
