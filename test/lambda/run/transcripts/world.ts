import type { Step } from '../../../../cli/state-machine.ts';
import { executeWorkflow } from '../../../../cli/workflow.ts';
import type { Report } from '../../../../lambda/facts/report-schema.ts';
import type { LedgerRecord } from '../../../../lambda/ledger/record.ts';
import type { RunState } from '../../../../lambda/run/state.ts';
import type { Deployment } from '../../../support/deployment.ts';
import { journalled, namer, reportText, writeText } from './journal.ts';

/** A deployment of which every request, write and report is recorded. */

export interface World {
  deployment: Deployment;
  /** The policies that it was deployed with. */
  policies: readonly { aspect: string }[];
  /** Plays a run and reports it. */
  night(options: NightOptions): Promise<string[]>;
}

export interface NightOptions {
  name: string;
  input: Record<string, unknown>;
  /** Called once, when Truncate is about to read the policies. */
  duringTruncate?: () => Promise<string[]>;
  /** Truncate's function dies when the ledger has this state, or the whole run is stopped there for good. */
  dies?: { at: LedgerRecord['state']; what: 'function' | 'run' };
}

/** What one step did. */
interface Turn {
  /** Seconds since the run's start. */
  at: number;
  step: string;
  lines: string[];
}

class Stopped extends Error {
  override readonly name = 'Stopped';
}

export function worldOf(deployment: Deployment, policies: World['policies']): World {
  const named = namer();
  let write: (line: string) => void = () => {};
  let start = deployment.clock.time;
  const { operations } = deployment.services;
  const { ledger } = deployment;
  let onWrite: (next: LedgerRecord) => void = () => {};
  let onTouch: () => void = () => {};
  const touched = <Service extends object>(service: Service): Service =>
    new Proxy(service, {
      get(target, name) {
        onTouch();
        return Reflect.get(target, name);
      },
    });
  deployment.services.operations = touched(
    journalled(
      operations,
      () => start,
      (line) => write(line),
    ),
  );
  deployment.services.ledger = touched({
    ...ledger,
    async replace(previous, next) {
      const stored = await ledger.replace(previous, next);
      write(writeText(previous, next, stored));
      if (stored) onWrite(next);
      return stored;
    },
  });

  return {
    deployment,
    policies,
    async night({ name, input, duringTruncate, dies }) {
      const { clock, services } = deployment;
      const outer = { write, start, onWrite, onTouch };
      start = clock.time;
      const turns: Turn[] = [];
      let lines: string[] = [];
      let since = clock.time;
      write = (line) => void lines.push(line);
      const flush = (step: string) => {
        turns.push({ at: (since - start) / 1000, step, lines });
        lines = [];
        since = clock.time;
      };
      let isStopped = false;
      onWrite = (next) => {
        if (next.state !== dies?.at || isStopped) return;
        isStopped = true;
        throw new Stopped('the function was killed');
      };
      // A run that is stopped does nothing more; a function that dies leaves the run to Poll.
      onTouch = () => {
        if (isStopped && dies?.what === 'run') throw new Stopped('the run was stopped');
      };
      let report: Report | undefined;
      let isInterrupted = false;
      const run = executeWorkflow({
        services: {
          ...services,
          get settings() {
            return deployment.settings;
          },
          parameters: {
            ...services.parameters,
            // The first thing that Truncate reads of the orders: Plan is done.
            async policies() {
              if (turns.length === 1 && duringTruncate && !isInterrupted) {
                isInterrupted = true;
                await inBetween(duringTruncate);
              }
              return services.parameters.policies();
            },
          },
        },
        publisher: {
          async publish(made) {
            onTouch();
            report = made;
          },
        },
        input,
        execution: { name, startTime: new Date(start).toISOString() },
        onState: (step: Step, state: RunState) => {
          if (state.next === 'wait') lines.push(`waits ${state.waitSeconds} s`);
          flush(title(step));
        },
        onFailure: (step, error) => {
          if (isStopped && dies?.what === 'run' && turns.some(({ step: at }) => at === 'dies')) return;
          lines.push(error instanceof Stopped ? 'dies' : `throws ${error instanceof Error ? error.name : 'something'}`);
          flush(title(step));
        },
        fast: {
          maxWaitMillis: 0,
          skipped: (millis) => {
            clock.time += millis;
            since = clock.time;
          },
        },
      });
      async function inBetween(act: () => Promise<string[]>): Promise<void> {
        const mine = { write, start, onWrite, onTouch, lines, since };
        const told = await act();
        ({ write, start, onWrite, onTouch, lines, since } = mine);
        lines.push(...told.map((line) => `| ${line}`));
      }
      try {
        await run;
      } catch (error) {
        if (!isStopped) throw error;
      }
      const told = isStopped && dies?.what === 'run' ? upToDeath(turns) : turns;
      ({ write, start, onWrite, onTouch } = outer);
      return [
        `${name}${Object.keys(input).length > 0 ? ` ${JSON.stringify(input)}` : ''}`,
        ...compressed(told).flatMap(turnText),
        ...(report ? reportText(report) : ['no report']),
      ].map(named);
    },
  };
}

const title = (step: string): string => step[0]!.toUpperCase() + step.slice(1);

const upToDeath = (turns: readonly Turn[]): readonly Turn[] =>
  turns.slice(0, turns.findIndex(({ lines }) => lines.includes('dies')) + 1);

/** From a series of looks without any other event, only the first and the last are printed. */
function compressed(turns: readonly Turn[]): Turn[] {
  const told: Turn[] = [];
  const isQuiet = ({ step, lines }: Turn) => step === 'Poll' && !lines.some((line) => line.startsWith('ledger'));
  for (let at = 0; at < turns.length; at++) {
    let end = at;
    while (end + 1 < turns.length && isQuiet(turns[at]!) && isQuiet(turns[end + 1]!)) end++;
    told.push(turns[at]!);
    if (end - at < 3) continue;
    told.push({ at: -1, step: '', lines: [`... ${end - at - 1} more looks`] }, turns[end]!);
    at = end;
  }
  return told;
}

function turnText({ at, step, lines }: Turn): string[] {
  const time = at < 0 ? '' : `+${clockText(at)}`;
  const head = `  ${time.padEnd(9)} ${step.padEnd(9)}`;
  return (lines.length === 0 ? ['-'] : repeated(lines)).map(
    (line, row) => `${row === 0 ? head : ' '.repeat(head.length)}${line}`,
  );
}

/** Repeated lines are printed once. */
function repeated(lines: readonly string[]): string[] {
  return lines.flatMap((line, at) => {
    if (at > 0 && lines[at - 1] === line) return [];
    let times = 1;
    while (lines[at + times] === line) times++;
    return [times === 1 ? line : `${line} (${times} times)`];
  });
}

function clockText(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
