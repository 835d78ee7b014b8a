import type { Check } from '../../lambda/facts/check.ts';
import type { Report } from '../../lambda/facts/report-schema.ts';
import type { OperationName } from '../../lambda/facts/server-error.ts';
import type { ComposedMessage } from '../../lambda/notification/message.ts';
import type { IndexSize } from '../../lambda/operations/operations.ts';
import type { RunState } from '../../lambda/run/state.ts';
import type { Posted } from '../notify/post.ts';
import type { Step } from '../state-machine.ts';
import type { Survey } from '../survey/count.ts';

/**
 * What the local runner tells while it goes: `screen/on-screen.ts` to people, `json-lines.ts` to machines. It is told in the
 * order of these methods; those of a run or those of a survey.
 */
export interface Output {
  /** Takes a secret out of everything that is told from now on. */
  neverShow(hide: (text: string) => string): void;
  /** At once, before anything is asked. */
  header(header: Header): void;
  /** Where it is known only after the server was asked. */
  ledger(path: string): void;
  /** A remark that a person should know: one or two sentences. */
  note(text: string): void;
  /** The checks that are known so far; at last all of them. */
  preflight(checks: readonly Check[], isComplete: boolean): void;
  /** What the server has been asked and has not answered yet. */
  asking(operation: OperationName | undefined): void;
  /** Indices counted so far. */
  counted(done: number, of: number): void;

  /** The run state after a step. */
  state(step: Step, state: RunState): void;
  /** Something went wrong that the run goes on with, or that its report will tell. */
  problem(text: string): void;
  report(report: Report, message: ComposedMessage): void;
  posted(posted: Posted): void;

  /** Where nothing can be counted. */
  sizes(sizes: readonly IndexSize[]): void;
  survey(survey: Survey, now: number): void;

  written(what: 'report' | 'policies' | 'page', path: string): void;
  /** Told to stop: what goes on without us. */
  stopped(lines: readonly string[]): void;
  /** Nothing more will be told. */
  close(): void;
}

export interface Header {
  server: string;
  mode: 'survey' | 'preview' | 'enforce' | 'clear';
  /** The server is the embedded operations service. */
  embedded: boolean;
  /** Waits are cut short. */
  fast: boolean;
  /** Left out where it is not known yet, or is none. */
  ledger?: string;
}
