import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { PolicySource } from '../../../lambda/policy/parse.ts';

/** A policy as the operator has written it, with the defaults that the documentation promises. */
export interface Ordered {
  entityType: string;
  aspect: string;
  retentionDays: number;
  refuseReindex: boolean;
  minDeletePercent: number;
  maxDeletePercent?: number;
  batchSize: number;
  timeoutSeconds?: number;
  maxRowsPerRun?: number;
  enabled: boolean;
}

const defaults = { refuseReindex: false, minDeletePercent: 10, batchSize: 10_000, enabled: true } as const;

/**
 * The one policy for a search index; undefined if there is none, several, or none that can be read.
 * @param stageBite the stage's `maxRowsPerRun`, for a policy that has none
 */
export function orderedFor(sources: readonly PolicySource[], index: string, stageBite?: number): Ordered | undefined {
  const found: (Ordered | undefined)[] = [];
  for (const { name, text } of sources) {
    const policy = read(text);
    if (policy && searchIndex(policy) === index) found.push(policy);
    // An unreadable text counts as a second policy for the index in its name.
    const [, entityType = '', aspect = ''] = /([^./]+)\.([^./]+)$/.exec(name) ?? [];
    if (!policy && searchIndex({ entityType, aspect }) === index) found.push(undefined);
  }
  const [one] = found;
  if (found.length !== 1 || !one) return undefined;
  return one.maxRowsPerRun === undefined && stageBite !== undefined ? { ...one, maxRowsPerRun: stageBite } : one;
}

/** The same few texts are read for each send. */
const known = new Map<string, Ordered | undefined>();

function read(text: string): Ordered | undefined {
  if (!known.has(text)) known.set(text, parsed(text));
  return known.get(text);
}

function parsed(text: string): Ordered | undefined {
  try {
    return { ...defaults, ...(JSON.parse(text) as Omit<Ordered, keyof typeof defaults>) };
  } catch {
    return undefined;
  }
}
