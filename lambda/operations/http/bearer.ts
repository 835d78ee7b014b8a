import type { Asked } from '../answers/failures.ts';
import { type Quote, quoteWithout } from '../answers/server-text.ts';
import { OperationsError, type TokenSource } from '../operations.ts';

/** The token as requests use it, and the quoting that never shows it, even where a server echoes it. */
export interface Bearer {
  /** Throws OperationsError of kind `unauthorized` when there is no token that can be sent. */
  current(asked: Asked): Promise<string>;
  /** The token after one was refused: read again, once for all requests that were refused together. Throws as `current`. */
  after(refused: string, asked: Asked): Promise<string>;
  quote: Quote;
  /** Whether a text that is taken as it is (an id, a name) holds the token. */
  isIn(text: string): boolean;
}

export function createBearer(source: TokenSource): Bearer {
  const seen = new Set<string>();
  let rereading: Promise<string> | undefined;

  async function usable(reading: Promise<string>, asked: Asked): Promise<string> {
    const token = await reading.catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new OperationsError('unauthorized', `${asked.what}: the token cannot be read. ${why}`);
    });
    if (token !== '') seen.add(token);
    // Nothing else can stand in a header, and the error about it would show the token.
    if (/^[\x21-\x7e]+$/.test(token)) return token;
    throw new OperationsError(
      'unauthorized',
      `${asked.what}: the token is empty or holds spaces, line breaks or other characters that no token has. Store it again.`,
    );
  }

  async function rereadUnlessDone(refused: string): Promise<string> {
    const current = await source.get();
    return current === refused ? source.reread() : current;
  }

  return {
    current: (asked) => usable(source.get(), asked),
    after(refused, asked) {
      rereading ??= rereadUnlessDone(refused).finally(() => {
        rereading = undefined;
      });
      return usable(rereading, asked);
    },
    quote: (text) => quoteWithout(seen)(text),
    isIn: (text) => [...seen].some((token) => text.includes(token)),
  };
}
