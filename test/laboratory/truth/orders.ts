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

/** The one policy for a search index; undefined where there is none, or several, or none that can be read. */
export function orderedFor(sources: readonly PolicySource[], index: string): Ordered | undefined {
  const found: (Ordered | undefined)[] = [];
  for (const { name, text } of sources) {
    const written = read(text);
    if (written && searchIndex(written) === index) found.push(written);
    // A text that nobody can read is a second policy for the index that its name tells.
    const [, entityType = '', aspect = ''] = /([^./]+)\.([^./]+)$/.exec(name) ?? [];
    if (!written && searchIndex({ entityType, aspect }) === index) found.push(undefined);
  }
  return found.length === 1 ? found[0] : undefined;
}

function read(text: string): Ordered | undefined {
  try {
    return { ...defaults, ...(JSON.parse(text) as Omit<Ordered, keyof typeof defaults>) };
  } catch {
    return undefined;
  }
}
