import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { PolicySource } from '../../../lambda/policy/parse.ts';

/** A policy as the operator has written it, with the defaults that the documentation promises. */
export interface Ordered {
  entityType: string;
  aspect: string;
  retentionDays: number;
  strategy: 'delete-by-query' | 'delete-by-query-only' | 'reindex';
  minDeletePercent: number;
  maxDeletePercent?: number;
  batchSize: number;
  timeoutSeconds?: number;
  maxRowsPerRun?: number;
  enabled: boolean;
}

const defaults = { strategy: 'delete-by-query', minDeletePercent: 10, batchSize: 10_000, enabled: true } as const;

/**
 * The one policy for a search index; undefined if there is none, several, or none that can be read.
 * @param stageBite the stage's `maxRowsPerRun`, for a policy that has none and may have one
 */
export function orderedFor(
  sources: readonly PolicySource[],
  index: string,
  stageBite?: number | undefined,
): Ordered | undefined {
  const found: (Ordered | undefined)[] = [];
  for (const { name, text } of sources) {
    const written = read(text);
    if (written && searchIndex(written) === index) found.push(written);
    // An unreadable text counts as a second policy for the index in its name.
    const [, entityType = '', aspect = ''] = /([^./]+)\.([^./]+)$/.exec(name) ?? [];
    if (!written && searchIndex({ entityType, aspect }) === index) found.push(undefined);
  }
  const [one] = found;
  if (found.length !== 1 || !one) return undefined;
  const takesBites = one.maxRowsPerRun === undefined && one.strategy !== 'reindex' && stageBite !== undefined;
  return takesBites ? { ...one, maxRowsPerRun: stageBite } : one;
}

function read(text: string): Ordered | undefined {
  try {
    return { ...defaults, ...(JSON.parse(text) as Omit<Ordered, keyof typeof defaults>) };
  } catch {
    return undefined;
  }
}
