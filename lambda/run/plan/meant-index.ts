import type { ServerError } from '../../facts/server-error.ts';
import type { IndexSize } from '../../operations/operations.ts';
import { canonicalSpelling, indexName, isProtected, knownAspects } from '../../policy/aspects.ts';
import { nearest } from '../../policy/nearest.ts';
import type { Policy } from '../../policy/schema.ts';

/** Where the server has no such index: the one of its own that the policy most likely means, or one that DataHub has. */
export function meantIndex({ kind }: ServerError, policy: Policy, sizes: readonly IndexSize[]): string | undefined {
  if (kind !== 'no-index' && kind !== 'bad-request') return undefined;
  const told = sizes.flatMap(({ entityType, aspect }) =>
    entityType && aspect && entityType !== '*' ? [canonicalSpelling(entityType, aspect)] : [],
  );
  const name = indexName(policy);
  const known = (told.length > 0 ? told : knownAspects).filter(({ aspect }) => !isProtected(aspect)).map(indexName);
  return nearest(
    name,
    known.filter((other) => other.toLowerCase() !== name.toLowerCase()),
  );
}
