import type { Options } from '../command-line/options.ts';
import { UsageError } from '../events/mistakes.ts';
import { inspectFile, type PolicyFile } from '../inputs/inspect.ts';
import { originOf } from '../inputs/policies.ts';
import { outputFile, writeOutputFile } from '../outputs/output-file.ts';
import { stageAddressWarnings } from '../survey/find-gms.ts';
import type { ProcessContext } from './process-context.ts';

/**
 * `validate`: checks whether a file can be used, and whether GMS answers at the address of a stage.
 * @throws UsageError with a line for each mistake and each warning
 */
export async function validate(given: Options, { print }: Pick<ProcessContext, 'print'>): Promise<number> {
  const { policies = '', minRetentionDays } = given;
  const { lines, found } = inspectionOf(policies, minRetentionDays);
  const file = outputFile('input', given);
  if (file) writeOutputFile(file, `${previewInput(found)}\n`);
  if (file?.path === '-') return 0;
  // The address of a chart is one of its cluster.
  const { kind, gmsUrl } = found;
  const addressWarnings = kind === 'stage' && gmsUrl ? await stageAddressWarnings(policies, gmsUrl.value) : [];
  print(`${[...lines, ...addressWarnings].join('\n')}\n`);
  return 0;
}

/**
 * What is in a file, without asking any server.
 * @returns with it a line for each warning, and one that says that nothing is wrong
 * @throws UsageError as `validate`
 */
export function inspectionOf(path: string, minRetentionDays?: number): { lines: string[]; found: PolicyFile } {
  const { mistakes, placeholders, warnings, found } = inspectFile(path, minRetentionDays);
  if (found === undefined || mistakes.length + placeholders.length > 0) {
    throw new UsageError([...mistakes, ...placeholders, ...warnings].join('\n'));
  }
  return { found, lines: [...warnings, `${path}: no mistake found.`, originOf({ path, ...found }) ?? []].flat() };
}

/** The input of an execution that previews these policies, with what they take from their stage. */
function previewInput({ list, maxRowsPerRun }: PolicyFile): string {
  const limit = maxRowsPerRun && { maxRowsPerRun: maxRowsPerRun.value };
  return JSON.stringify({ mode: 'preview', policies: list.map((policy) => ({ ...limit, ...Object(policy) })) });
}
