import { createHash } from 'node:crypto';

/** Awaits controlled by an explorer. */

/** An await that waits for a decision. */
export interface Pending {
  /** Function, execution or server, such as `X truncate 1`. */
  who: string;
  what: string;
  /** The first choice is that all goes well; the others are faults. */
  choices: readonly string[];
  decide(choice: string): void | Promise<void>;
  /** Its execution has polled so often that it continues only when nothing else is left to do, and without faults. */
  late: boolean;
}

export interface Controlled {
  pending: Map<string, Pending>;
  /** What each function has learnt, in order; it determines the rest of its behavior. */
  seen: Map<string, string>;
  /** True: no choices, everything goes well. */
  automatic: boolean;
  /** What a client may hear after a real truncate. */
  answers: readonly string[];
}

/** The function that asked is dead: nothing returns into it. */
export const dead = Symbol('dead');

/** It is asked once more, and may be decided after much else has happened. */
export class Later<T> {
  readonly answer: () => Promise<T>;
  constructor(answer: () => Promise<T>) {
    this.answer = answer;
  }
}

export type Decided<T> = T | typeof dead | Later<T>;

/** Hands an await to the explorer. */
export function asked<T>(
  controlled: Controlled,
  { who, what, choices, late }: Omit<Pending, 'decide'>,
  decide: (choice: string) => Decided<T> | Promise<Decided<T>>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    controlled.pending.set(who, {
      who,
      what,
      choices,
      late,
      async decide(choice) {
        controlled.pending.delete(who);
        try {
          const result = await decide(choice);
          if (result === dead) return;
          if (result instanceof Later) return resolve(result.answer());
          note(controlled, who, `${what} ${choice} ${JSON.stringify(result ?? null)}`);
          resolve(result as T);
        } catch (error) {
          note(controlled, who, `${what} ${choice} ${(error as Error).message}`);
          reject(error);
        }
      },
    });
  });
}

function note({ seen }: Controlled, who: string, what: string): void {
  const learnt = `${seen.get(who) ?? ''} ${what}`;
  seen.set(who, createHash('sha1').update(learnt).digest('base64'));
}
