import { basename } from 'node:path';
import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';
import { nameDoubt } from '../../infra/stage/doubts.ts';
import { inspectPolicies } from '../../infra/stage/policies.ts';
import { inspectSettings } from '../../infra/stage/settings.ts';
import { warningsOf } from '../../infra/stage/warnings.ts';
import type { Problem } from '../../lambda/policy/explain.ts';
import { readJson } from '../../lambda/policy/read-json.ts';
import { UsageError } from '../command-line/usage-error.ts';
import { localSettings } from '../run/settings.ts';
import { policyListIn } from './policy-list.ts';
import { readText } from './read-text.ts';

/** `validate`: checks whether files can be used, without asking any server. */

/**
 * @returns for each file a line for each warning, and one that says that nothing is wrong
 * @throws UsageError with a line for each mistake in any of the files, as `file:line:column: sentence`, which editors can open
 */
export function validate({ policiesPath, stagePath }: { policiesPath?: string; stagePath?: string }): string[] {
  const checked = [
    ...(policiesPath === undefined ? [] : [check(policiesPath, '--policies', inspectList)]),
    ...(stagePath === undefined ? [] : [check(stagePath, '--stage', inspectStage)]),
  ];
  const mistakes = checked.flatMap(({ mistakes }) => mistakes);
  if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'));
  return checked.flatMap(({ path, warnings }) => [...warnings, `${path}: no mistake found.`]);
}

/** The mistakes, and the warnings. */
interface Found {
  problems: Problem[];
  warnings: Problem[];
}

type Inspect = (value: unknown, path: string) => Found;

function check(
  path: string,
  option: string,
  inspect: Inspect,
): { path: string; mistakes: string[]; warnings: string[] } {
  const text = readText(path, option);
  const read = readJson(text, { comments: true });
  if (read.kind === 'wrong') {
    const { line, column } = read.at ?? { line: 1, column: 1 };
    return { path, mistakes: [`${path}:${line}:${column}: it ${read.problem}.`], warnings: [] };
  }
  const positions = positionsIn(text);
  const lines = (problems: readonly Problem[], kind: string) =>
    problems
      .map(({ path: at, sentence }) => ({ ...positions(at), sentence }))
      .sort((one, other) => one.line - other.line || one.column - other.column)
      .map(({ line, column, sentence }) => `${path}:${line}:${column}: ${kind}${sentence}`.replace(/[^?.]$/, '$&.'));
  const { problems, warnings } = inspect(read.value, path);
  return { path, mistakes: lines(problems, ''), warnings: lines(warnings, 'warning: ') };
}

const inspectList: Inspect = (value) => {
  const found = policyListIn(value);
  if (found.kind === 'wrong')
    return { problems: [{ path: found.path, sentence: `it ${found.problem}` }], warnings: [] };
  const { problems, policies } = inspectPolicies(found.list, localSettings.minRetentionDays);
  const inFile = ({ path, sentence }: Problem): Problem => ({ path: [...found.path, ...path], sentence });
  return { problems: problems.map(inFile), warnings: nameDoubts(policies.map(({ policy }) => policy)).map(inFile) };
};

/** Names that almost match one of DataHub's own; paths start at the list. */
const nameDoubts = (policies: ReadonlyArray<{ entityType: string; aspect: string }>): Problem[] =>
  policies.flatMap((policy, at) => {
    const doubt = nameDoubt(policy);
    return doubt === undefined ? [] : [{ path: [at, 'aspect'], sentence: `policy ${at + 1}: ${doubt}` }];
  });

const inspectStage: Inspect = (value, path) => {
  const { problems, settings } = inspectSettings(basename(path).replace(/\.json$/, ''), value);
  const warnings = settings ? warningsOf(settings).map(({ path: at, text }) => ({ path: at, sentence: text })) : [];
  return { problems, warnings };
};

interface Position {
  line: number;
  column: number;
}

/** Finds the position of a value or, if it is missing, of what should contain it. */
function positionsIn(text: string): (path: readonly PropertyKey[]) => Position {
  const tree = parseTree(text.replace(/^\ufeff/, ''));
  const lines = text.split('\n');
  return (path) => {
    let node: Node | undefined;
    for (let depth = path.length; node === undefined && depth >= 0; depth--) {
      node = tree && findNodeAtLocation(tree, path.slice(0, depth) as (string | number)[]);
    }
    let [rest, line] = [node?.parent?.type === 'property' ? node.parent.offset : (node?.offset ?? 0), 0];
    while (rest > lines[line]!.length) rest -= lines[line++]!.length + 1;
    return { line: line + 1, column: rest + 1 };
  };
}
