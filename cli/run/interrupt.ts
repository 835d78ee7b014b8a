import type { Ledger } from '../../lambda/ledger/ledger.ts';
import type { OtherVersion } from '../../lambda/ledger/record.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';

/** After Ctrl-C, a closed terminal or a stop from outside: says what continues without us, and how to resume. */

/** Exit statuses as shells use them: 128 plus the signal's number. */
const statuses = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Calls `explain` for the first signal and ends the process; a second signal ends it at once.
 * @returns a function that removes the handlers
 */
export function onInterrupt(
  explain: () => Promise<string[]>,
  end: (status: number) => void = process.exit,
): () => void {
  let asked = false;
  const handlers = Object.entries(statuses).map(([signal, status]) => {
    const handler = async () => {
      if (asked) return end(status);
      asked = true;
      try {
        for (const line of await explain()) process.stderr.write(`${line}\n`);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        process.stderr.write(`Stopped. What is still running on the server cannot be read: ${why}\n`);
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
 * What an interrupted run leaves running on a real server, according to its ledger; as lines of text.
 * @param isScheduled true if nobody has to start the next run
 */
export async function whatGoesOn(ledger: Ledger, isScheduled = false): Promise<string[]> {
  const records = await ledger.list();
  const left = records.flatMap((record) => {
    switch (record.state) {
      case 'running':
        return [`  ${dottedName(record)}: task ${record.attempt.taskId} is still running on the server.`];
      case 'sending':
        return [`  ${dottedName(record)}: a truncation was being sent; whether it arrived is not known yet.`];
      default:
        return [];
    }
  });
  const perhaps = records.flatMap((record) => (record.state === 'other-version' ? otherVersion(record) : []));
  if (left.length + perhaps.length === 0) {
    return ['Stopped. Nothing is running on the server on behalf of this ledger.'];
  }
  return [
    `Stopped, but ${left.length > 0 ? '' : 'perhaps '}not on the server:`,
    ...left,
    ...perhaps,
    ...(left.length > 0
      ? [
          `${isScheduled ? 'The next run continues' : 'Start the same command again'}: it picks up what is there, watches it to its end, and sends nothing twice.`,
        ]
      : []),
    ...(perhaps.length > 0
      ? ['This version leaves alone what it cannot read: finish it with the version that wrote it, or clear the index.']
      : []),
  ];
}

/** States in which, in every version so far, nothing is being sent or watched. */
const settled = new Set(['idle', 'reserved', 'quarantined']);

function otherVersion({ index, head }: OtherVersion): string[] {
  if (!head) return [`  ${index}: its ledger record cannot be read; a truncation may be running.`];
  if (settled.has(head.state)) return [];
  return [
    `  ${dottedName(head)}: its ledger record (version ${head.version}) cannot be read by this program, but says "${head.state}": a truncation may be running.`,
  ];
}
