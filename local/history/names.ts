import { indexName, knownAspects, searchIndex } from '../../lambda/policy/aspects.ts';

/** Nights are kept by the search index, and people name indices otherwise. */

const known = new Map(knownAspects.map((names) => [searchIndex(names), indexName(names)]));

/**
 * `dataset.operation` for `dataset_operationaspect_v1`. Of an aspect that DataHub does not bring, the spelling is lost; where more
 * than one underscore could be the dot, the name stays as the search index has it.
 */
export function nameOfIndex(index: string): string {
  const name = index.replace(/aspect_v1$/, '');
  const parts = name.split('_');
  return known.get(index) ?? (parts.length === 2 && parts.every((part) => part !== '') ? parts.join('.') : name);
}
