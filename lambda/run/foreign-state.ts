import * as z from 'zod';
import { type Outcome, outcomes } from '../facts/outcome.ts';
import type { PolicyEntry } from '../facts/report-schema.ts';
import { isForeign } from '../ledger/record.ts';
import { done, replaceEntry } from './entries.ts';
import type { RunServices } from './services.ts';
import { type Entry, type RunState, STATE_VERSION } from './state.ts';

const foreignEntrySchema = z.object({
  index: z.string(),
  phase: z.string(),
  entry: z.looseObject({
    entityType: z.string(),
    aspect: z.string(),
    outcome: z.enum(outcomes).optional(),
    reason: z.string().optional(),
  }),
});

/**
 * The run state of another version, as a deployment in the middle of a run leaves it: nothing more is started or
 * watched; what can be read of it is reported, and the ledger keeps what runs for the next run.
 */
export function foreignState(state: unknown, { settings, clock }: Pick<RunServices, 'settings' | 'clock'>): RunState {
  const { runId, stage, mode, startedAt, entries, failure } = state as Record<string, unknown>;
  const now = new Date(clock.now()).toISOString();
  return {
    version: STATE_VERSION,
    runId: typeof runId === 'string' ? runId : 'unknown',
    stage: typeof stage === 'string' ? stage : settings.stage,
    mode: mode === 'preview' ? 'preview' : 'enforce',
    startedAt: typeof startedAt === 'string' && !Number.isNaN(Date.parse(startedAt)) ? startedAt : now,
    next: 'report',
    waitSeconds: 0,
    entries: readEntries(entries, failure !== undefined),
    error:
      'this job was deployed anew in the middle of the run: nothing more was started; the next run picks up what is running',
    notes: [],
    unmanagedIndices: [],
    turns: { truncate: 0, poll: 0 },
  };
}

/**
 * The same where the ledger is at hand: after a redrive, the Truncate that the execution had called before may be at work
 * on the index whose turn it is, and send. Throws LedgerError.
 */
export async function foreignStateByLedger(state: unknown, services: RunServices): Promise<RunState> {
  const known = foreignState(state, services);
  const turn = known.entries.find(({ phase, entry }) => {
    const { outcome, reason } = entry as PolicyEntry;
    return phase === 'done' && outcome === 'not-started' && reason === deployedAnew;
  });
  const record = turn && (await services.ledger.read(turn.index));
  if (!turn || !record || isForeign(record) || record.attempt?.runId !== known.runId) return known;
  return replaceEntry(known, turn, done(turn, 'still-running', deployedAnew));
}

const deployedAnew = 'the job was deployed anew in the middle of the run; the next run goes on';

/** @param truncateFailed the first approved one may have been sent, and no Poll came to find out */
function readEntries(entries: unknown, truncateFailed: boolean): Entry[] {
  const readable = (Array.isArray(entries) ? entries : []).flatMap((entry) => {
    const parsed = foreignEntrySchema.safeParse(entry);
    return parsed.success ? [parsed.data] : [];
  });
  const turn = truncateFailed ? readable.find(({ phase }) => phase === 'approved') : undefined;
  return readable.map((entry) => readEntry(entry, entry === turn ? 'unknown' : undecided(entry.phase)));
}

const undecided = (phase: string): Outcome => (phase === 'watched' ? 'still-running' : 'not-started');

function readEntry({ index, entry }: z.infer<typeof foreignEntrySchema>, otherwise: Outcome): Entry {
  const { outcome, reason, ...rest } = entry;
  const decided = outcome !== undefined && reason !== undefined;
  return {
    index,
    phase: 'done',
    entry: {
      ...(rest as PolicyEntry),
      outcome: decided ? outcome : otherwise,
      reason: decided ? reason : deployedAnew,
    },
  };
}
