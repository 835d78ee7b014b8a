import { indexKey } from '../../../cli/embedded-service/rows.ts';

/** Index names, as DataHub's IndexConventionImpl builds and parses them. */

const ending = 'aspect_v1';

/** `<prefix_>dataset_operationaspect_v1`; an empty text means no prefix. */
export const aliasOf = (prefix: string, entityType: string, aspect: string): string =>
  `${prefix === '' ? '' : `${prefix.toLowerCase()}_`}${indexKey(entityType, aspect)}`;

/** What getIndexSizes asks for: it matches aliases and concrete indices, and never an index that the alias has left. */
export const patternOf = (prefix: string): string => `${prefix === '' ? '' : `${prefix}_`}*${ending}`;

/** The entity type and aspect in a real index's name; undefined if it does not split into two (custom entities). */
export function partsOf(prefix: string, name: string): { entityType: string; aspect: string } | undefined {
  const base = name.replace(/_\d{13}$/, '').slice(prefix === '' ? 0 : prefix.length + 1);
  const parts = base.endsWith(ending) ? base.slice(0, -ending.length).split('_') : [];
  return parts.length === 2 ? { entityType: parts[0]!, aspect: parts[1]! } : undefined;
}
