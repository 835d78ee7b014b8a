import type { PolicyText } from '../../../lambda/policy/parse.ts';
import { aliasOf } from '../world/server.ts';

/** A policy of a history, and the parameter that holds it. */
export interface PolicyOf {
  index: string;
  entityType: string;
  aspect: string;
  /** As people write it: `dataset.operation`. */
  name: string;
  parameter: string;
  fields: Record<string, unknown>;
}

export const prefix = '/retention/policies/';

export function policyOf([entityType, aspect]: readonly [string, string], fields: Record<string, unknown>): PolicyOf {
  const name = `${entityType}.${aspect}`;
  return { index: aliasOf({ entityType, aspect }), entityType, aspect, name, parameter: `${prefix}${name}`, fields };
}

/** The parameter, perhaps with other fields. */
export const written = (policy: PolicyOf, changes: object = {}): PolicyText => ({
  name: policy.parameter,
  text: JSON.stringify({ entityType: policy.entityType, aspect: policy.aspect, ...policy.fields, ...changes }),
});

/** The parameters with one of them replaced or removed. */
export const replaced = (
  sources: readonly PolicyText[],
  parameter: string,
  source: PolicyText | undefined,
): PolicyText[] => [...sources.filter(({ name }) => name !== parameter), ...(source ? [source] : [])];

/** Timestamps between two ages in days. */
export const aged = (next: () => number, count: number, from: number, to: number, now: number): number[] =>
  Array.from({ length: count }, () => Math.round(now - (to + (from - to) * next()) * 86_400_000));
