import { nearest } from '../../lambda/policy/nearest.ts';
import { faults } from './faults/all.ts';
import { type Changes, type Fault, FaultError } from './faults/kinds.ts';
import type { Behaviour } from './simulation/behaviour.ts';

/** The faults, by name: what `--fault NAME[=VALUE]` takes, and `Engine.fault`. */

export { faults } from './faults/all.ts';
export { type Changes, type Fault, FaultError, scopes } from './faults/kinds.ts';

/** How a fault is written: `conflicts=SHARE`, `reset[=SCOPE]`, `comma`. */
export function faultUsage({ name, value }: Fault): string {
  if (value === undefined) return name;
  return value.startsWith('[') ? `${name}[=${value.slice(1)}` : `${name}=${value}`;
}

/**
 * What a fault changes.
 * @param text `NAME` or `NAME=VALUE`
 * @throws FaultError
 */
export function parseFault(text: string, current: Behaviour): Changes {
  const [name, ...rest] = text.split('=');
  const fault = faults.find((one) => one.name === name);
  if (fault === undefined) {
    const meant = nearest(
      name ?? '',
      faults.map((one) => one.name),
    );
    const hint = meant === undefined ? '--help lists them' : `did you mean ${meant}?`;
    throw new FaultError(`There is no fault ${name}: ${hint}`);
  }
  return fault.apply(rest.length === 0 ? undefined : rest.join('='), current);
}
