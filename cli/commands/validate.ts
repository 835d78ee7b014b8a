import type { Options } from '../command-line/options.ts';
import { UsageError } from '../events/mistakes.ts';
import { inspectFile, inspectList, inspectStage } from '../inputs/inspect.ts';
import { stageAddressWarnings } from '../survey/stage-address.ts';
import type { ProcessContext } from './process-context.ts';

type Files = Pick<Options, 'policies' | 'stage'>;

/**
 * `validate`: checks whether files can be used, and for a stage, whether GMS answers at its address.
 * @throws UsageError with a line for each mistake and each warning in any of the files
 */
export async function validate(given: Files, { print }: Pick<ProcessContext, 'print'>): Promise<number> {
  const { lines, stage } = inspected(given);
  const doubts = stage?.found ? await stageAddressWarnings(stage.path, stage.found.gmsUrl) : [];
  print(`${[...lines, ...doubts].join('\n')}\n`);
  return 0;
}

/**
 * What is in the files, without asking any server.
 * @returns for each file a line for each warning, and one that says that nothing is wrong
 * @throws UsageError as `validate`
 */
export function inspected(given: Files) {
  const policies = given.policies === undefined ? [] : [inspectFile(given.policies, '--policies', inspectList)];
  const stages = given.stage === undefined ? [] : [inspectFile(given.stage, '--stage', inspectStage)];
  const files = [...policies, ...stages];
  const lines = files.flatMap(({ mistakes, warnings }) => [...mistakes, ...warnings]);
  if (files.some(({ mistakes }) => mistakes.length > 0)) throw new UsageError(lines.join('\n'));
  return {
    lines: files.flatMap(({ path, warnings }) => [...warnings, `${path}: no mistake found.`]),
    stage: stages[0],
  };
}
