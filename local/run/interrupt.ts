import type { Ledger } from '../../lambda/ledger/ledger.ts';
import { indexName } from '../../lambda/policy/aspects.ts';

/** Ctrl-C, a closed terminal, and a stop from outside: says what goes on without us, and how to pick it up. */

/** As shells count them: 128 plus the signal's number. */
const statuses = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Calls `explain` for the first signal and ends the process; a second signal ends it at once.
 * @returns takes the handlers away
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
        process.stderr.write(`Stopped. What goes on running cannot be read: ${why}\n`);
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

/** What an interrupted run leaves on a real server, by its ledger. */
export async function whatGoesOn(ledger: Ledger): Promise<string[]> {
  const left = (await ledger.list()).flatMap((record) => {
    switch (record.state) {
      case 'running':
        return [`  ${indexName(record)}: task ${record.attempt.taskId} goes on running on the server.`];
      case 'sending':
        return [`  ${indexName(record)}: a truncation was being sent; whether it arrived is not known yet.`];
      default:
        return [];
    }
  });
  if (left.length === 0) return ['Stopped. Nothing is running on the server on behalf of this ledger.'];
  return [
    'Stopped, but not on the server:',
    ...left,
    'Start the same command again: it picks up what is there, watches it to its end, and sends nothing twice.',
  ];
}
