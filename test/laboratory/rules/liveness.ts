import { type Outcome, resultOf } from '../../../lambda/facts/outcomes.ts';
import type { PolicyEntry, Report } from '../../../lambda/facts/report-schema.ts';
import { isUnresolved, type Unresolved } from '../../../lambda/ledger/record.ts';
import { serverAddress } from '../../../lambda/operations/http/base-url.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { History } from '../histories/history.ts';
import { type CheckRule, eventsOf, runOf } from './events.ts';

/** Once the faults have stopped, no index is stuck: each is truncated again, or closed until a person clears it. */

const day = 86_400_000;

export const livenessRules = {
  *'nothing is unresolved after the last calm night'(history) {
    for (const stored of history.world.ledger.records.values()) {
      const record = stored as Unresolved;
      // Any run may take a reservation past its sendBy; a person clears what another address holds.
      if (isUnresolved(record) && isAtHome(history, record) && !isAtWork(history, record.index))
        yield { at: history.world.time.now(), text: `${record.index} is ${record.state} for ever` };
    }
  },

  *'no index is stuck in the last calm night'(history) {
    const report = reportOf(history, history.last.calm);
    const at = history.world.time.now();
    if (!report) return yield { at, text: `the calm night ${history.last.calm} has no report` };
    for (const { index } of history.policies) {
      const entry = report.policies.find((one) => searchIndex(one) === index);
      if (entry?.cause.kind === 'foreign') continue;
      if (entry && isStuck(history, entry, report) && !isAtWork(history, index))
        yield { at, text: `${index} is ${said(entry)} in the last calm night` };
    }
  },

  *'sizes that are refused for good are asked for twice in a run at most'(history) {
    if (history.scenario.lasting !== 'no sizes, ever') return;
    const asked = new Map<string, { at: number; times: number }>();
    for (const { at, action, status, invocation } of eventsOf(history, 'read')) {
      if (action !== 'getIndexSizes' || (status !== 401 && status !== 403)) continue;
      const run = runOf(invocation);
      asked.set(run, { at, times: (asked.get(run)?.times ?? 0) + 1 });
    }
    for (const [run, { at, times }] of asked) {
      // If the execution never gets a function's state, what the function learnt is lost.
      const lost = functionsLost(history, run);
      if (times > 2 * (1 + lost)) yield { at, text: `${run}: ${times} requests for sizes, ${lost} functions lost` };
    }
  },

  *'what a person has cleared can be truncated'(history) {
    const report = reportOf(history, history.last.cleared);
    const at = history.world.time.now();
    if (!report) return yield { at, text: `the night after the clearing has no report` };
    for (const { index } of history.policies) {
      const entry = report.policies.find((one) => searchIndex(one) === index);
      if (!entry) yield { at, text: `${index} is not in the last report` };
      else if ((isStuck(history, entry, report) && !isAtWork(history, index)) || entry.outcome === 'quarantined') {
        yield { at, text: `${index} is ${said(entry)} after it was cleared` };
      }
    }
  },
} satisfies Record<string, CheckRule>;

function functionsLost(history: History, run: string): number {
  const begun = eventsOf(history, 'invocation').filter(
    ({ invocation }) => runOf(invocation) === run && invocation.step !== 'report',
  ).length;
  const taken = eventsOf(history, 'taken').filter((event) => runOf(event) === run).length;
  return Math.max(0, begun - taken);
}

/** A task of ours really is working, however slowly: a delete of a few rows an hour takes weeks. */
const isAtWork = (history: History, index: string): boolean =>
  eventsOf(history, 'truncate').some(({ index: sent, track }) => {
    const server = history.world.servers[track.server];
    if (sent !== index || server === undefined) return false;
    const { working, movedAt } = server.truth.truthOf(track, [], server.nameOf(index));
    return working && movedAt !== undefined && history.world.time.now() - movedAt < day;
  });

const isAtHome = ({ world }: History, { server }: { server: string }): boolean =>
  server === serverAddress(world.settings.gmsUrl);

const said = ({ outcome, cause }: PolicyEntry): string => `${outcome} (${JSON.stringify(cause)})`;

const reportOf = (history: History, runId: string) =>
  eventsOf(history, 'published').findLast((event) => event.runId === runId)?.report;

/** An index may stay like this until somebody changes something. In anything else that is not ok, it is stuck. */
const mayStay: readonly Outcome[] = ['failed', 'rows-missing', 'emptied', 'quarantined', 'above-ceiling'];

function isStuck({ world, scenario }: History, entry: PolicyEntry, { startedAt }: Report): boolean {
  const { outcome, cause } = entry;
  const index = searchIndex(entry);
  // Without refreshes, deleted rows are counted forever: reported every night, and not ours to fix.
  const view = world.servers[0].engine
    .indices()
    .find((one) => one.index?.toLowerCase() === world.servers[0].nameOf(index));
  if (outcome === 'incomplete' && view?.rows !== view?.visibleRows) return false;
  // Closed on this very night, after 20 h: such indices take turns, because each opens the circuit breaker.
  const record = world.ledger.records.get(index) as { state: string } | undefined;
  if (outcome === 'unknown' && record?.state === 'quarantined') return false;
  // A truncation from an earlier night lasted until this one and is closed now: the next one deletes the rest.
  if (outcome === 'incomplete' && entry.adopted === true && record?.state === 'idle') return false;
  // The rows of another index are missing: this one's turn comes with the next run.
  if (outcome === 'not-started' && cause.kind === 'stopped' && cause.outcome === 'rows-missing') return false;
  if (cause.kind === 'guard' && cause.which === 'index-young') return !mayBeFilling(entry, Date.parse(startedAt));
  if (resultOf[outcome] !== 'ok' && !mayStay.includes(outcome)) return true;
  if (outcome !== 'failed') return false;
  // What the policy or the server rules out permanently is reported every night.
  if (cause.kind === 'guard') return false;
  return !(cause.kind === 'server' && scenario.profile === 'postgres');
}

/** Another copy may still be going into an index of this age: up to 36 h, or 14 days after an upgrade. */
function mayBeFilling({ indexName = '' }: PolicyEntry, runStart: number): boolean {
  const { version, digits } = /_v1_(?<version>.+_)?(?<digits>\d{13})$/.exec(indexName)?.groups ?? {};
  return runStart - Number(digits) < (version === undefined ? 1.5 : 14) * day + 3_600_000;
}
