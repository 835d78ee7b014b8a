import { baseOf } from '../../lambda/operations/backend.ts';
import { dottedName, knownAspects, searchIndex } from '../../lambda/policy/aspects.ts';

/** Nights are stored by search index, but people name indices differently. */

const known = new Map(knownAspects.map((names) => [searchIndex(names), dottedName(names)]));

/**
 * `dataset.operation` for `dataset_operationaspect_v1`. For an aspect that is not DataHub's own, the spelling is lost;
 * if more than one underscore could be the dot, the search index's name is kept.
 */
export function nameOfIndex(index: string): string {
  const name = baseOf(index) ?? index;
  const parts = name.split('_');
  return known.get(index) ?? (parts.length === 2 && parts.every((part) => part !== '') ? parts.join('.') : name);
}
