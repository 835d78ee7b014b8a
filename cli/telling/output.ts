import type { Report } from '../../lambda/facts/report-schema.ts';
import type { RunState } from '../../lambda/run/state.ts';
import type { Posted } from '../outputs/post.ts';
import type { Pending } from '../run/observed.ts';
import type { Step } from '../run/state-machine.ts';
import type { Check } from '../survey/checks.ts';
import type { Findings } from '../survey/findings.ts';

/**
 * What the command line tells while it works: `screen/on-screen.ts` to people, `json-lines.ts` to programs. The methods
 * are called in this order, those of a run or those of a survey.
 */
export interface Output {
  /** Keeps a secret out of all output from now on. */
  neverShow(hide: (text: string) => string): void;
  /** At once, before anything is asked. */
  header(header: Header): void;
  /** The ledger's folder, if it is only known after asking the server. */
  ledger(path: string): void;
  /** A remark worth knowing: one or two sentences, and perhaps an indented command. */
  note(text: string): void;
  /** The request that the server has not answered for longest. */
  asking(pending: Pending | undefined): void;
  /** Indices counted so far. */
  counted(done: number, of: number): void;

  /** The run state after a step. */
  state(step: Step, state: RunState): void;
  /** A problem that the run survives, or that its report will contain. */
  problem(text: string): void;
  report(report: Report, message: { subject: string; email: string }): void;
  posted(posted: Posted): void;

  checks(checks: readonly Check[]): void;
  survey(findings: Findings): void;

  written(what: 'report' | 'policies' | 'page' | 'figures', path: string): void;
  /** The process was asked to stop; the lines say what continues without it. */
  stopped(lines: readonly string[]): void;
  /** There will be no more output. */
  close(): void;
}

export interface Header {
  server: string;
  /** Where address and token were found. */
  from?: { url: string; token: string } | undefined;
  mode: 'survey' | 'preview' | 'enforce' | 'release';
  /** The server is the embedded operations service. */
  embedded: boolean;
  /** Waits are cut short. */
  fast: boolean;
  /** Omitted if not known yet, or if there is none. */
  ledger?: string | undefined;
}
