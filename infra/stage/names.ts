import { dottedName, knownAspects } from '../../lambda/policy/aspects.ts';
import { nearest } from '../../lambda/policy/nearest.ts';

/**
 * Whether the name of a policy's index is almost, but not quite, one of DataHub's. Custom models have aspects of their
 * own, so this is a doubt, not a mistake.
 * @returns one sentence without its full stop; undefined if there is no doubt
 */
export function nameWarning(given: { entityType: string; aspect: string }): string | undefined {
  const name = dottedName(given);
  const known = knownAspects.map(dottedName).find((one) => one.toLowerCase() === name.toLowerCase());
  if (known === name) return undefined;
  if (known !== undefined) return `${name} is sent in DataHub's spelling, ${known}: write it like that`;
  // Each part is compared by itself: dataset.datasetStats is not a mistyped dataset.datasetProfile.
  const near = knownAspects.filter(
    ({ entityType, aspect }) => isNear(given.entityType, entityType) && isNear(given.aspect, aspect),
  );
  const meant = nearest(name, near.map(dottedName));
  if (meant === undefined) return undefined;
  return `${name} is no index of DataHub's own; unless a custom model has it, ${meant} is meant`;
}

const isNear = (given: string, known: string): boolean => nearest(given, [known]) !== undefined;
