import type { Report, ReportFacts } from '../../../lambda/facts/report-schema.ts';
import { type PlanEvent, plan } from '../../../lambda/run/plan/plan.ts';
import { poll } from '../../../lambda/run/poll.ts';
import { type ReportEvent, report } from '../../../lambda/run/report.ts';
import type { Publisher, RunServices } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import type { Invocation, StepName } from './invocation.ts';
import { publisherOf, servicesOf } from './services.ts';

/** The steps of the core, by name. */
export const takeStep = (invocation: Invocation, input: unknown): Promise<unknown> => {
  const services = servicesOf(invocation);
  if (invocation.info.step === 'report') return reportWith(input, services, publisherOf(invocation));
  return coreStep(invocation.info.step, input, services);
};

export const reportWith = (input: unknown, services: RunServices, publisher: Publisher): Promise<unknown> =>
  report(input as ReportEvent, { ...services, publisher, words });

/** Rules read causes, not English. */
const words = (facts: ReportFacts): Report => ({
  ...facts,
  notes: facts.notes.map((note) => ({ ...note, text: '' })),
  policies: facts.policies.map((entry) => ({ ...entry, reason: '' })),
});

export function coreStep(step: Exclude<StepName, 'report'>, input: unknown, services: RunServices): Promise<RunState> {
  switch (step) {
    case 'plan':
      return plan(input as PlanEvent, services);
    case 'truncate':
      return truncate(input as RunState, services);
    case 'poll':
      return poll(input as RunState, services);
  }
}
