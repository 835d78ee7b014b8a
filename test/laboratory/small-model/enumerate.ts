import { createHash } from 'node:crypto';
import { check, type Violation } from '../rules/checker.ts';
import { reportRules } from '../rules/reported.ts';
import { tellingRules } from '../rules/telling.ts';
import { withVirtualTimers } from '../world/virtual-time.ts';
import { unreportedIn, unresolvedIn } from '../world/world.ts';
import { createSmallModel, type SmallModel, type SmallOptions } from './small-model.ts';

/**
 * Every history of a small model: two executions over one index, in every order of their steps, with up to a given
 * number of faults anywhere. States reached before, with no fewer faults left, are not entered again.
 */

export interface EnumerationOptions extends SmallOptions {
  /** How many faults one history may hold. */
  faults: number;
  /** Stops after this many violations. */
  most?: number;
  /** Stops after this many histories: a sample. */
  mostHistories?: number;
}

export interface Enumeration extends EnumerationOptions {
  /** Different states. */
  states: number;
  /** Histories played to their end, or to a known state. */
  histories: number;
  /** Of these, histories played to their end, with two calm nights after it. */
  complete: number;
  violations: Violation[];
}

const day = 86_400_000;

/** @param onHistory called after each history */
export async function enumerate(options: EnumerationOptions, onHistory: () => void = () => {}): Promise<Enumeration> {
  const { faults, most = 20, mostHistories = Number.POSITIVE_INFINITY } = options;
  const result: Enumeration = { ...options, states: 0, histories: 0, complete: 0, violations: [] };
  const visited = new Map<string, number>();
  const branches: number[][] = [[]];
  for (let branch = branches.pop(); branch; branch = branches.pop()) {
    result.histories++;
    await lived(branch);
    onHistory();
    if (result.violations.length >= most || result.histories >= mostHistories) break;
  }
  result.states = visited.size;
  return result;

  async function lived(path: number[]): Promise<void> {
    const model = createSmallModel(options);
    const { world, pending } = model;
    await withVirtualTimers(world.time, async () => {
      await driven(world.time.run, model.begin('X'));
      if (options.second === 'at once') await driven(world.time.run, model.begin('Y'));
      else model.beginLater('Y', options.second === 'at any time' ? 'enforce' : 'preview');
      const taken: number[] = [];
      const text: string[] = [];
      let left = faults;
      const turn = () => new Promise((resolve) => setImmediate(resolve));
      await turn();
      while (pending.size > 0) {
        const sorted = [...pending.values()].sort((one, other) => one.who.localeCompare(other.who));
        const early = sorted.filter(({ late }) => !late);
        const open = (early.length > 0 ? early : sorted.slice(0, 1)).flatMap((one) =>
          one.choices
            .filter((_choice, place) => place === 0 || (left > 0 && !one.late))
            .map((choice) => ({ one, choice })),
        );
        const known = path[taken.length];
        if (known === undefined) {
          const key = createHash('sha1').update(model.key()).digest('base64');
          const before = visited.get(key);
          if (before !== undefined && before >= left) return judge(model, text, false);
          visited.set(key, left);
          for (let other = open.length - 1; other > 0; other--) branches.push([...taken, other]);
        }
        const place = known ?? 0;
        const chosen = open[place];
        if (!chosen) throw new Error(`the history of ${path.join(' ')} is not the same again`);
        const { one, choice } = chosen;
        taken.push(place);
        text.push(`${one.who}: ${one.what}${choice === 'go' ? '' : ` [${choice}]`}`);
        if (choice !== one.choices[0]) left--;
        await one.decide(choice);
        await turn();
      }
      result.complete++;
      for (const night of [1, 2]) {
        if (unresolvedIn(world).length === 0 && unreportedIn(world).length === 0) break;
        await world.time.runUntil(world.time.now() + day);
        await driven(world.time.run, model.night(`night ${night}`));
      }
      world.tracker.close();
      judge(model, text, true);
      for (const { index, state } of [...unresolvedIn(world), ...unreportedIn(world)]) {
        const at = world.time.now();
        result.violations.push({
          rule: 'nothing is unresolved, and nothing unreported',
          at,
          text: `${index} ${state} after ${text.join(', ')}`,
        });
      }
    });
  }

  /** @param isOver no more reports will come */
  function judge(model: SmallModel, text: string[], isOver: boolean): void {
    for (const { rule, at, text: what } of check(model.history())) {
      if (!isOver && (rule in tellingRules || rule in reportRules)) continue;
      result.violations.push({ rule, at, text: `${what} after ${text.join(', ')}` });
    }
  }
}

/** Lets virtual time pass until something is done. */
async function driven(run: (done: () => boolean) => Promise<void>, work: Promise<void>): Promise<void> {
  let isDone = false;
  const settled = work.finally(() => {
    isDone = true;
  });
  await run(() => isDone);
  return settled;
}
