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

/**
 * Names in the order in which histories use them. The second can also be written as `acme.table_usage`: one search
 * index.
 */
export const names = [
  ['dataset', 'operation'],
  ['acme_table', 'usage'],
  ['chart', 'chartUsageStatistics'],
] as const;

/** Another spelling of the same search index, if there is one. */
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
    fields: withoutBite(fields),
  };
}

/** A reindex copies the whole index, so it cannot work in bites: such a policy is refused. */
export function withoutBite(fields: Record<string, unknown>): Record<string, unknown> {
  const { maxRowsPerRun: _, ...rest } = fields;
  return fields['strategy'] === 'reindex' ? rest : fields;
}

/** Its text as in its parameter, with some fields written differently. */
export const written = ({ entityType, aspect, parameter, fields }: PolicyOf, changes: object = {}): PolicySource => ({
  name: parameter,
  text: JSON.stringify(withoutBite({ entityType, aspect, ...fields, ...changes })),
});

/** The sources with one parameter's text replaced or removed. */
export const replaced = (
  sources: readonly PolicySource[],
  parameter: string,
  source: PolicySource | undefined,
): PolicySource[] => [...sources.filter(({ name }) => name !== parameter), ...(source ? [source] : [])];
