import type { Strategy } from '../../facts/strategy.ts';
import type { DryRun } from '../operations.ts';
import { type Quote, quote, type Unreadable } from './server-text.ts';

/** The content of a dry run's sentence. */
export interface DryRunSentence extends Pick<DryRun, 'rowsToDelete' | 'rowsTotal' | 'strategy'> {
  kind: 'dry-run';
}

/**
 * Reads the sentence of a dry run (docs/operations-service.md; wording: OperationsResource in datahub). Only the
 * two counts are read: the percentage is printed in the server's locale (`99,20%`), is `NaN` for an empty index, and
 * some builds forgot to multiply it by 100. A sentence without the dry-run marker counts as unreadable, because it
 * would mean that rows were really deleted.
 * @returns `unreadable` for everything else, such as the flag conflict, which also comes with status 200.
 */
export function readDryRun(text: string, show: Quote = quote): DryRunSentence | Unreadable {
  const unreadable: Unreadable = { kind: 'unreadable', excerpt: show(text) };
  const sentence = /^\s*Delete\s+(\d{1,16})\s+out\s+of\s+(\d{1,16})\s+rows\b([\s\S]*)$/i.exec(text);
  if (!sentence) return unreadable;
  const rowsToDelete = Number(sentence[1]);
  const rowsTotal = Number(sentence[2]);
  const rest = sentence[3] ?? '';
  if (!Number.isSafeInteger(rowsToDelete) || !Number.isSafeInteger(rowsTotal)) return unreadable;
  if (!/\bthis\s+was\s+a\s+dry\s+run\b/i.test(rest)) return unreadable;
  const strategy = strategyOf(rest);
  return { kind: 'dry-run', rowsToDelete, rowsTotal, ...(strategy && { strategy }) };
}

/** Omitted if the sentence names both strategies or neither: then a reindex cannot be ruled out. */
function strategyOf(text: string): Strategy | undefined {
  const reindex = /\breindex/i.test(text);
  const deleteByQuery = /\bdelete[\s-]by[\s-]query\b/i.test(text);
  if (reindex === deleteByQuery) return undefined;
  return reindex ? 'reindex' : 'delete-by-query';
}
