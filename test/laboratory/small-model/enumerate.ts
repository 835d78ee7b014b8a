import { createHash } from 'node:crypto';
import type { History } from '../histories/history.ts';
import type { Violation } from '../rules/checker.ts';
import type { CheckRule } from '../rules/events.ts';
import { guardRules } from '../rules/guards.ts';
import { rowRules } from '../rules/rows.ts';
import { sendingRules } from '../rules/sending.ts';
import { unresolvedRules } from '../rules/unresolved.ts';
import { withVirtualTimers } from '../world/virtual-time.ts';
import type { World } from '../world/world.ts';
import { createSmallModel, type SmallOptions } from './small-model.ts';

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

const rules: Record<string, CheckRule> = { ...sendingRules, ...guardRules, ...unresolvedRules, ...rowRules };

const day = 86_400_000;

/** @param told called after each history */
export async function enumerate(options: EnumerationOptions, told: () => void = () => {}): Promise<Enumeration> {
  const { faults, most = 20, mostHistories = Number.POSITIVE_INFINITY } = options;
  const result: Enumeration = { ...options, states: 0, histories: 0, complete: 0, violations: [] };
  const visited = new Map<string, number>();
  const branches: number[][] = [[]];
  for (let branch = branches.pop(); branch; branch = branches.pop()) {
    result.histories++;
    await lived(branch);
    told();
    if (result.violations.length >= most || result.histories >= mostHistories) break;
  }
  result.states = visited.size;
  return result;

  async function lived(path: number[]): Promise<void> {
    const model = createSmallModel(options);
    const { world, pending } = model;
    await withVirtualTimers(world.time, async () => {
      await model.begin('X');
      await model.begin('Y');
      const taken: number[] = [];
      const text: string[] = [];
      let left = faults;
      const turn = () => new Promise((resolve) => setImmediate(resolve));
      await turn();
      while (pending.size > 0) {
        const sorted = [...pending.values()].sort((one, other) => one.who.localeCompare(other.who));
        const early = sorted.filter(({ late }) => !late);
        const options = (early.length > 0 ? early : sorted.slice(0, 1)).flatMap((one) =>
          one.choices
            .filter((_choice, place) => place === 0 || (left > 0 && !one.late))
            .map((choice) => ({ one, choice })),
        );
        const known = path[taken.length];
        if (known === undefined) {
          const key = createHash('sha1').update(model.key()).digest('base64');
          const before = visited.get(key);
          if (before !== undefined && before >= left) return judge(model.history(), text);
          visited.set(key, left);
          for (let other = options.length - 1; other > 0; other--) branches.push([...taken, other]);
        }
        const place = known ?? 0;
        const chosen = options[place];
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
        if (unresolvedIn(world).length === 0) break;
        await world.time.runUntil(world.time.now() + day);
        await model.night(`night ${night}`);
      }
      world.front.truth.close();
      judge(model.history(), text);
      for (const state of unresolvedIn(world)) {
        result.violations.push({ rule: 'nothing is unresolved', at: 0, text: `${state} after ${text.join(', ')}` });
      }
    });
  }

  function judge(history: History, text: string[]): void {
    for (const [rule, find] of Object.entries(rules)) {
      for (const found of find(history)) {
        result.violations.push({ rule, at: found.at, text: `${found.text} after ${text.join(', ')}` });
      }
    }
  }
}

const unresolvedIn = ({ ledger }: World): string[] =>
  [...ledger.records.values()]
    .map((stored) => (stored as { state: string }).state)
    .filter((state) => state === 'sending' || state === 'running');
