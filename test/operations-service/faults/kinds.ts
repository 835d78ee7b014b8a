import type { Behaviour, Interception, InterceptionKind, Scope } from '../simulation/behaviour.ts';

/** Kinds of faults, by the value that they accept. */

/** What a fault changes: the server's behaviour, or what others do to its indices. */
export interface Changes extends Partial<Behaviour> {
  /** datahub-gc truncates to 30 days this long after it is switched on. */
  gcAfterSeconds?: number;
  /** An upgrade of DataHub without downtime begins this long after it is switched on. */
  upgradeAfterSeconds?: number;
}

export interface Fault {
  name: string;
  /** How its value is written, in brackets if optional; omitted if it takes none. */
  value?: string;
  summary: string;
  apply(value: string | undefined, current: Behaviour): Changes;
}

/** An unknown fault or value; `message` says what is wrong with it and what to do. */
export class FaultError extends Error {
  override readonly name = 'FaultError';
}

export const flag = (name: string, summary: string, changes: Changes): Fault => ({
  name,
  summary,
  apply: (value) => {
    if (value !== undefined) throw new FaultError(`Fault ${name} takes no value (got ${value})`);
    return changes;
  },
});

export function amount(
  name: string,
  unit: string,
  [least, most]: [number, number],
  summary: string,
  changes: (amount: number) => Changes,
): Fault {
  return {
    name,
    value: unit,
    summary,
    apply: (value) => changes(readNumber(name, unit, [least, most], value)),
  };
}

export function readNumber(
  name: string,
  unit: string,
  [least, most]: [number, number],
  value: string | undefined,
): number {
  const number = value === undefined || value.trim() === '' ? Number.NaN : Number(value);
  if (number >= least && number <= most) return number;
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new FaultError(`Fault ${name} takes a number ${range}, as ${name}=${unit} (got ${value ?? 'nothing'})`);
}

export function oneOf<T extends string>(
  name: string,
  values: readonly T[],
  summary: string,
  changes: (value: T) => Changes,
): Fault {
  return {
    name,
    value: values.join('|'),
    summary,
    apply: (value) => {
      const known = values.find((one) => one === value);
      if (known === undefined) {
        throw new FaultError(`Fault ${name} takes one of ${values.join(', ')} (got ${value ?? 'nothing'})`);
      }
      return changes(known);
    },
  };
}

/** The values of SCOPE. */
export const scopes: readonly Scope[] = ['all', 'truncate', 'dry-run', 'status', 'sizes'];

/** Something in front of the server; without a value it affects the given scope. */
export function between(kind: InterceptionKind, scope: Scope, acts: boolean, summary: string): Fault {
  return {
    name: kind,
    value: '[SCOPE]',
    summary: `${summary} (${scope === 'all' ? 'every request' : 'real truncates'} unless said otherwise)`,
    apply: (value, { interceptions }) => {
      const chosen = value === undefined ? scope : scopes.find((one) => one === value);
      if (chosen === undefined) throw new FaultError(`Fault ${kind} takes one of ${scopes.join(', ')} (got ${value})`);
      const one: Interception = { kind, scope: chosen, acts };
      return { interceptions: [...interceptions, one] };
    },
  };
}

export const unlimited = Number.MAX_SAFE_INTEGER;
