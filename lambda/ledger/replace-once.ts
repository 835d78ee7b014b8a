import { randomUUID } from 'node:crypto';

/** When a call to a store is repeated. */
export interface Retry {
  /**
   * Milliseconds to wait after this attempt (the first is 0); undefined: no more. After the first one it is undefined
   * only for an error that every repetition would meet.
   */
  pauseAfter(error: unknown, attempt: number): number | undefined;
  pause(millis: number): Promise<unknown>;
}

/** Repeats what has no effect, or the same effect each time. */
export async function retried<Value>(call: () => Promise<Value>, { pauseAfter, pause }: Retry): Promise<Value> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const millis = pauseAfter(error, attempt);
      if (millis === undefined) throw error;
      await pause(millis);
    }
  }
}

/** The place of one record. */
interface ConditionalStore {
  /** The ID of the write that is stored, strongly consistent. Its own attempts are over when it throws. */
  read(): Promise<string | undefined>;
  /** One atomic step. False if the stored record is another than the one before. */
  put(writeId: string): Promise<boolean>;
}

/**
 * The conditional write of every ledger whose store may lose an answer (rule 5). A repetition fails its condition if
 * the first one was stored; the random ID shows whose write it is.
 */
export async function replaceOnce({ read, put }: ConditionalStore, retry: Retry): Promise<boolean> {
  const writeId = randomUUID();
  const isOurs = async () => (await read()) === writeId;
  return retried(async () => {
    try {
      return (await put(writeId)) || (await isOurs());
    } catch (error) {
      if (retry.pauseAfter(error, 0) !== undefined && (await isOurs())) return true;
      throw error;
    }
  }, retry);
}
