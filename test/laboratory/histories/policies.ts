import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { PolicySource } from '../../../lambda/policy/parse.ts';

/** The policies of one history, as the operator writes them. */

export interface PolicyOf {
  entityType: string;
  aspect: string;
  /** The engine's name of the index: `dataset.operation`. */
  name: string;
  /** The search index. */
  index: string;
  /** The parameter that holds it. */
  parameter: string;
  fields: Record<string, unknown>;
}

/** Names in the order in which histories take them. The second can also be written as `acme.table_usage`: one search index. */
export const names = [
  ['dataset', 'operation'],
  ['acme_table', 'usage'],
  ['chart', 'chartUsageStatistics'],
] as const;

/** The other way to write the name of the same search index, where there is one. */
export const otherName: Readonly<Record<string, readonly [string, string]>> = {
  'acme_table.usage': ['acme', 'table_usage'],
};

export const prefix = '/laboratory/policies/';

export function policyOf([entityType, aspect]: readonly [string, string], fields: Record<string, unknown>): PolicyOf {
  const name = `${entityType}.${aspect}`;
  return {
    entityType,
    aspect,
    name: name.toLowerCase(),
    index: searchIndex({ entityType, aspect }),
    parameter: `${prefix}${name}`,
    fields,
  };
}

/** Its text as it stands in its parameter, with some fields written differently. */
export const written = ({ entityType, aspect, parameter, fields }: PolicyOf, changes: object = {}): PolicySource => ({
  name: parameter,
  text: JSON.stringify({ entityType, aspect, ...fields, ...changes }),
});

/** The sources with one parameter's text replaced, or taken away. */
export const replaced = (
  sources: readonly PolicySource[],
  parameter: string,
  source: PolicySource | undefined,
): PolicySource[] => [...sources.filter(({ name }) => name !== parameter), ...(source ? [source] : [])];
