import type { ServerError } from '../../facts/server-error.ts';
import { capped } from '../../facts/text.ts';
import type { IndexSize } from '../../operations/operations.ts';
import { canonicalSpelling, dottedName, isProtected, knownAspects } from '../../policy/aspects.ts';
import { nearest } from '../../policy/nearest.ts';
import type { Policy } from '../../policy/schema.ts';

/**
 * For an index that the server does not have: the server's index that the policy most likely means, or else one that
 * DataHub is known to have.
 */
export function meantIndex({ kind }: ServerError, policy: Policy, sizes: readonly IndexSize[]): string | undefined {
  if (kind !== 'no-index' && kind !== 'bad-request') return undefined;
  const told = sizes.flatMap(({ entityType, aspect }) =>
    entityType && aspect && entityType !== '*' ? [canonicalSpelling(entityType, aspect)] : [],
  );
  const known = (told.length > 0 ? told : knownAspects).filter(
    (other) => !isProtected(other.aspect) && isOther(other, policy),
  );
  // Both names must be close, each relative to its own length: a matching entity says nothing about the aspect.
  const near = known.filter(
    ({ entityType, aspect }) => nearest(policy.entityType, [entityType]) && nearest(policy.aspect, [aspect]),
  );
  const meant = nearest(dottedName(policy), near.map(dottedName));
  return meant === undefined ? undefined : capped(meant);
}

/** The names differ in more than a number: nobody types "part7" for "part3" by mistake. */
const isOther = (other: Pick<Policy, 'entityType' | 'aspect'>, policy: Policy): boolean =>
  unnumbered(dottedName(other)) !== unnumbered(dottedName(policy));

const unnumbered = (name: string): string => name.toLowerCase().replace(/\d/g, '#');
