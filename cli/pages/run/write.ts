import type { Report } from '../../../lambda/facts/report-schema.ts';
import { MemoryError, type Night, type Nights } from '../../../lambda/memory/night.ts';
import type { MessageContext } from '../../../lambda/notification/context.ts';
import type { ComposedMessage } from '../../../lambda/notification/message.ts';
import type { Operations } from '../../../lambda/operations/operations.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import { type PolicySource, parsePolicies } from '../../../lambda/policy/parse.ts';
import type { Output } from '../../output/output.ts';
import { localSettings } from '../../run/settings.ts';
import type { Page } from '../model.ts';
import { countedAges } from './ages.ts';
import { runPage } from './run-page.ts';

/** A run that has ended and has already been reported. */
export interface EndedRun {
  report: Report;
  message: ComposedMessage;
  context: MessageContext;
  server: string;
  operations: Operations;
  policies: readonly PolicySource[];
  nights: Nights;
}

/** The page of a run; its ages are counted now. */
export async function pageOfRun(run: EndedRun, counted: Output['counted']): Promise<Page> {
  const { older, left } = await countedAges(run.report, { operations: run.operations, onCounted: counted });
  const parsed = parsePolicies(run.policies, localSettings.minRetentionDays);
  return runPage({
    ...run,
    policies: new Map(parsed.flatMap((one) => (one.kind === 'policy' ? [[one.index, one.policy] as const] : []))),
    older,
    uncounted: left,
    nights: await remembered(run),
  });
}

/** The report says if the memory is unavailable. */
async function remembered({ report, nights }: EndedRun): Promise<Map<string, Night[]>> {
  const found = new Map<string, Night[]>();
  try {
    for (const entry of report.policies) {
      const index = searchIndex(entry);
      found.set(index, await nights.read(index));
    }
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
  }
  return found;
}
