import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { PolicyText } from '../../../lambda/policy/parse.ts';

/** A policy as the operator has written it, with the defaults that the documentation promises. */
export interface WrittenPolicy {
  entityType: string;
  aspect: string;
  retentionDays: number;
  refuseReindex: boolean;
  minDeletePercent: number;
  maxDeletePercent?: number;
  maxMissingPercent: number;
  batchSize: number;
  timeoutSeconds?: number;
  maxRowsPerRun?: number;
  enabled: boolean;
}

const defaults = {
  refuseReindex: false,
  minDeletePercent: 10,
  maxMissingPercent: 2,
  batchSize: 10_000,
  enabled: true,
} as const;

/**
 * The one policy for a search index; undefined if there is none, several, or none that can be read.
 * @param stageLimit the stage's `maxRowsPerRun`, for a policy that has none
 */
export function writtenFor(
  sources: readonly PolicyText[],
  index: string,
  stageLimit?: number,
): WrittenPolicy | undefined {
  const found: (WrittenPolicy | undefined)[] = [];
  for (const { name, text } of sources) {
    const policy = read(text);
    if (policy && searchIndex(policy) === index) found.push(policy);
    // An unreadable text counts as a second policy for the index in its name.
    const [, entityType = '', aspect = ''] = /([^./]+)\.([^./]+)$/.exec(name) ?? [];
    if (!policy && searchIndex({ entityType, aspect }) === index) found.push(undefined);
  }
  const [one] = found;
  if (found.length !== 1 || !one) return undefined;
  return one.maxRowsPerRun === undefined && stageLimit !== undefined ? { ...one, maxRowsPerRun: stageLimit } : one;
}

/** The same few texts are read for each send. */
const known = new Map<string, WrittenPolicy | undefined>();

function read(text: string): WrittenPolicy | undefined {
  if (!known.has(text)) known.set(text, parsed(text));
  return known.get(text);
}

function parsed(text: string): WrittenPolicy | undefined {
  try {
    return { ...defaults, ...(JSON.parse(text) as Omit<WrittenPolicy, keyof typeof defaults>) };
  } catch {
    return undefined;
  }
}
