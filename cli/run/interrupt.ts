import type { Ledger } from '../../lambda/ledger/ledger.ts';
import { addressElsewhere } from '../../lambda/ledger/ownership.ts';
import { namesOfRecord, type StoredRecord } from '../../lambda/ledger/record.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import { exact, moment } from '../../lambda/report/sentences/numbers.ts';
import { titles } from '../../lambda/report/sentences/phrases.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { progressOf } from '../events/run-listener.ts';
import { endingSignals } from '../events/signals.ts';
import { terminalText } from '../events/terminal-text.ts';

/** After Ctrl-C, a closed terminal or a stop from outside: says what continues without us, and how to resume. */

/**
 * Calls `explain` for the first signal and ends the process; a second signal ends it at once.
 * @returns a function that removes the handlers
 */
export function onInterrupt(
  explain: () => Promise<string[]>,
  end: (status: number) => void = process.exit,
): () => void {
  let asked = false;
  const handlers = endingSignals().map(([signal, status]) => {
    const handler = async () => {
      if (asked) return end(status);
      asked = true;
      try {
        for (const line of await explain()) process.stderr.write(terminalText(`${line}\n`));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        process.stderr.write(terminalText(`Stopped. What is still running on the server cannot be read: ${why}\n`));
      } finally {
        end(status);
      }
    };
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  return () => {
    for (const off of handlers) off();
  };
}

/**
 * What an interrupted run leaves behind on a real server, according to its ledger; as lines of text.
 * @param last the run state after the last step, for what was seen of each truncation
 * @param isScheduled true if the next run starts without a person
 * @param server normalized address: a record of another one is not picked up by the next run
 */
export async function unresolvedLines(
  ledger: Ledger,
  last: RunState | undefined,
  server: string,
  isScheduled = false,
): Promise<string[]> {
  const records = (await ledger.list()).filter((record) => addressElsewhere(record, { server }) === undefined);
  const unverified = records.flatMap((record) => lineOf(record, last));
  const unreported = records.flatMap(unreportedLine);
  const again = isScheduled ? 'The next run continues' : 'Start the same command again';
  return [
    ...(unverified.length === 0
      ? ['Stopped. Nothing was under way on the server.']
      : [
          'Stopped. Not verified yet; what still runs on the server goes on without this program:',
          ...unverified,
          `${again}: it picks up what is there, watches it to its end, and sends nothing twice.`,
        ]),
    ...(unreported.length === 0
      ? []
      : [
          'Decided but not reported yet; the next run reports it first, and deletes nothing in that index before:',
          ...unreported,
        ]),
  ];
}

/** These lines are not a report: the people who read reports have not seen them. */
function unreportedLine(record: StoredRecord): string[] {
  if (record.state === 'unreadable' || !record.unreported) return [];
  const { lastVerdict } = record;
  const missing = lastVerdict?.verdict.rowsMissing ? ` (${exact(lastVerdict.verdict.rowsMissing)} rows)` : '';
  const what = lastVerdict === undefined ? 'released' : `${titles[lastVerdict.verdict.outcome]}${missing}`;
  return [`  ${dottedName(namesOfRecord(record))}: ${what}.`];
}

function lineOf(record: StoredRecord, last: RunState | undefined): string[] {
  const name = dottedName(namesOfRecord(record));
  switch (record.state) {
    case 'running':
      return [`  ${name}: task ${record.taskId}${lastSeen(record.index, last)}.`];
    case 'sending':
      return [`  ${name}: a truncation was being sent; whether it arrived is not known yet.`];
    case 'unreadable':
      return [`  ${name}: its ledger record cannot be read; a truncation may be under way.`];
    default:
      return [];
  }
}

function lastSeen(index: string, last: RunState | undefined): string {
  const watched = last?.entries.find((entry) => entry.index === index);
  if (watched?.phase !== 'watched' || watched.watch.observedAt === undefined) return ', not checked by this run';
  const { observedAt, task, vanished } = watched.watch;
  const end = task?.completed || vanished ? ', and had ended' : '';
  return `, ${progressOf(watched)} when last seen, ${moment(observedAt)}${end}`;
}
