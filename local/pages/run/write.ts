import type { Report } from '../../../lambda/facts/report-schema.ts';
import { MemoryError, type Night, type Nights } from '../../../lambda/memory/night.ts';
import type { ComposedMessage, MessageContext } from '../../../lambda/notification/message.ts';
import type { Operations } from '../../../lambda/operations/operations.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import { type PolicySource, parsePolicies } from '../../../lambda/policy/parse.ts';
import { type JsonFile, WriteError, writeJsonFile } from '../../files/json-file.ts';
import type { Output } from '../../output/output.ts';
import { localSettings } from '../../run/settings.ts';
import { renderPage } from '../render.ts';
import { countedAges } from './ages.ts';
import { runPage } from './run-page.ts';

/** The page of a run that has ended and is told already. */

export interface EndedRun {
  report: Report;
  message: ComposedMessage;
  context: MessageContext;
  server: string;
  operations: Operations;
  policies: readonly PolicySource[];
  nights: Nights;
}

/** @returns whether it is written; where it is not, why is told */
export async function writeRunPage(run: EndedRun, file: JsonFile, output: Output): Promise<boolean> {
  const { report, operations, policies } = run;
  const { older, left } = await countedAges(report, { operations, onCounted: output.counted });
  const parsed = parsePolicies(policies, localSettings.minRetentionDays);
  const page = runPage({
    ...run,
    policies: new Map(parsed.flatMap((one) => (one.kind === 'policy' ? [[one.index, one.policy] as const] : []))),
    older,
    uncounted: left,
    nights: await remembered(run),
  });
  return writePage(file, renderPage(page), output);
}

export function writePage(file: JsonFile, text: string, output: Output): boolean {
  try {
    writeJsonFile(file, text);
  } catch (error) {
    if (!(error instanceof WriteError)) throw error;
    output.problem(error.message);
    return false;
  }
  output.written('page', file.path);
  return true;
}

/** The report says where the memory is not to be had. */
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
