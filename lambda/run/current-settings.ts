import { capped, maxSentenceBytes } from '../gms/text.ts';
import type { Cause } from '../model/cause.ts';
import { differences } from '../policy/difference.ts';
import { type ParsedPolicy, type PolicySource, parsePolicies } from '../policy/parse.ts';
import type { RunServices } from './services.ts';
import type { ApprovedEntry } from './state.ts';

/** The operator's current settings: the policies and the pause switch, read whenever needed and never cached. */

/** All policies, with the stage's defaults. Throws ParametersError. */
export async function readPolicies({
  parameters,
  settings,
}: Pick<RunServices, 'parameters' | 'settings'>): Promise<ParsedPolicy[]> {
  return policiesIn(await parameters.policies(), settings);
}

/** The policies of these sources, with the stage's defaults. */
export function policiesIn(sources: readonly PolicySource[], settings: RunServices['settings']): ParsedPolicy[] {
  const parsed = parsePolicies(sources, settings.minRetentionDays);
  const { maxRowsPerRun } = settings;
  if (maxRowsPerRun === undefined) return parsed;
  return parsed.map((item) => {
    if (item.kind === 'invalid' || item.policy.maxRowsPerRun !== undefined) return item;
    return { ...item, policy: { ...item.policy, maxRowsPerRun } };
  });
}

/** Why nothing may be started, if the job is paused; if that cannot be determined, it counts as paused. */
export async function pausedCause({ parameters }: Pick<RunServices, 'parameters'>): Promise<Cause | undefined> {
  try {
    return (await parameters.paused()) ? { kind: 'stopped', by: 'paused' } : undefined;
  } catch (error) {
    return { kind: 'stopped', by: 'paused', problem: problemOf(error) };
  }
}

/**
 * Why the settings, read again just before the call, forbid it: the job may have been paused, or the policy may have
 * changed, since Plan decided. `owner` and `note` are not compared, and a changed mode of the stage takes effect with
 * the next run: to stop a run, pause the job.
 */
export async function changedSettings(
  { index, policy }: Pick<ApprovedEntry, 'index' | 'policy'>,
  services: Pick<RunServices, 'parameters' | 'settings'>,
): Promise<Cause | undefined> {
  const unreadable = (problem: string): Cause => ({ kind: 'policy', what: 'unreadable', problem });
  const paused = await pausedCause(services);
  if (paused) return paused;
  let policies: ParsedPolicy[];
  try {
    policies = await readPolicies(services);
  } catch (error) {
    return unreadable(problemOf(error));
  }
  const [current, second] = policies.filter((item) => item.index === index);
  if (!current) return { kind: 'policy', what: 'removed' };
  if (second) return unreadable('there is a second one for this index');
  if (current.kind === 'invalid') return unreadable(capped(current.problem));
  const [first] = differences(policy, current.policy);
  return first && { kind: 'policy', what: first.field, was: first.before, now: first.after };
}

/** Sentences about configuration are passed on unchanged, and a parameter may make them long. */
export const problemOf = (error: unknown): string =>
  capped(error instanceof Error ? error.message : String(error), maxSentenceBytes);
