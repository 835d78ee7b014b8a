import { type MarkEvent, markAllTold } from '../../../lambda/run/mark-told.ts';
import { type PlanEvent, plan } from '../../../lambda/run/plan/plan.ts';
import { poll } from '../../../lambda/run/poll.ts';
import { type ReportEvent, report } from '../../../lambda/run/report.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import { worded } from '../../../lambda/words/worded.ts';
import type { Invocation } from './invocation.ts';
import { publisherOf, servicesOf } from './services.ts';

/** The steps of the core, by name. */
export function takeStep(invocation: Invocation, input: unknown): Promise<unknown> {
  const services = servicesOf(invocation);
  switch (invocation.info.step) {
    case 'plan':
      return plan(input as PlanEvent, services);
    case 'truncate':
      return truncate(input as RunState, services);
    case 'poll':
      // The workflow's MarkTold has no function of its own.
      if (isMark(input)) return markAllTold(input, services);
      return poll(input as RunState, services);
    case 'report':
      return report(input as ReportEvent, { ...services, publisher: publisherOf(invocation), words: worded });
  }
}

export const isMark = (input: unknown): input is MarkEvent =>
  typeof input === 'object' && input !== null && 'told' in input;
