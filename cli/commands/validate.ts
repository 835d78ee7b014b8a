import type { Options } from '../command-line/options.ts';
import { UsageError } from '../events/mistakes.ts';
import { inspectFile, type PolicyFile } from '../inputs/inspect.ts';
import { originOf } from '../inputs/policies.ts';
import { outputFile, writeOutputFile } from '../outputs/output-file.ts';
import { stageAddressWarnings } from '../survey/stage-address.ts';
import type { ProcessContext } from './process-context.ts';

type Files = Pick<Options, 'policies' | 'stage' | 'minRetentionDays'>;
type Given = Files & Pick<Options, 'json' | 'force'>;

/**
 * `validate`: checks whether files can be used, and whether GMS answers at the address of a stage.
 * @throws UsageError with a line for each mistake and each warning in any of the files
 */
export async function validate(given: Given, { print }: Pick<ProcessContext, 'print'>): Promise<number> {
  const { lines, stages, input } = inspected(given);
  const file = outputFile(
    given.json,
    'input',
    [
      ['--policies', given.policies],
      ['--stage', given.stage],
    ],
    given.force,
  );
  if (file) writeOutputFile(file, `${input}\n`);
  if (file?.path === '-') return 0;
  const doubts = await Promise.all(stages.map(({ path, gmsUrl }) => stageAddressWarnings(path, gmsUrl)));
  print(`${[...lines, ...doubts.flat()].join('\n')}\n`);
  return 0;
}

/**
 * What is in the files, without asking any server. `--stage` is another name for `--policies`.
 * @returns for each file a line for each warning, and one that says that nothing is wrong
 * @throws UsageError as `validate`
 */
export function inspected({ policies, stage, minRetentionDays }: Files) {
  const files = [
    ...(policies === undefined ? [] : [inspectFile(policies, '--policies', minRetentionDays)]),
    ...(stage === undefined ? [] : [inspectFile(stage, '--stage', minRetentionDays)]),
  ];
  const wrong = files.flatMap(({ mistakes, placeholders }) => [...mistakes, ...placeholders]);
  if (wrong.length > 0) {
    const lines = files.flatMap(({ mistakes, placeholders, warnings }) => [...mistakes, ...placeholders, ...warnings]);
    throw new UsageError(lines.join('\n'));
  }
  const [first] = files;
  return {
    input: first?.found && inputOf(first.found),
    lines: files.flatMap(({ path, warnings, found }) => {
      const origin = found && originOf({ path, ...found });
      return [...warnings, `${path}: no mistake found.`, ...(origin === undefined ? [] : [origin])];
    }),
    // The address of a chart is one of its cluster.
    stages: files.flatMap(({ path, found }) =>
      found?.kind === 'stage' && found.gmsUrl ? [{ path, gmsUrl: found.gmsUrl.value }] : [],
    ),
  };
}

/** The input of an execution that previews these policies, with what they take from their stage. */
function inputOf({ list, maxRowsPerRun }: PolicyFile): string {
  const limit = maxRowsPerRun && { maxRowsPerRun: maxRowsPerRun.value };
  return JSON.stringify({ mode: 'preview', policies: list.map((policy) => ({ ...limit, ...Object(policy) })) });
}
