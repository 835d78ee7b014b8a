import { basename } from 'node:path';
import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';
import { inspectPolicies } from '../../infra/stage/policies.ts';
import { inspectSettings } from '../../infra/stage/settings.ts';
import type { Problem } from '../../lambda/policy/explain.ts';
import { readJson } from '../../lambda/policy/read-json.ts';
import { UsageError } from '../command-line/usage-error.ts';
import { localSettings } from '../run/settings.ts';
import { policyListIn } from './policy-list.ts';
import { readText } from './read-text.ts';

/** `validate`: checks whether files can be used, without asking any server. */

/**
 * @returns one line for each valid file
 * @throws UsageError with a line for each mistake of all the files, as `file:line:column: sentence`, which editors can open
 */
export function validate({ policiesPath, stagePath }: { policiesPath?: string; stagePath?: string }): string[] {
  const checked = [
    ...(policiesPath === undefined ? [] : [check(policiesPath, '--policies', policyProblems)]),
    ...(stagePath === undefined ? [] : [check(stagePath, '--stage', stageProblems)]),
  ];
  const mistakes = checked.flatMap(({ mistakes }) => mistakes);
  if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'));
  return checked.map(({ path }) => `${path}: no mistake found.`);
}

type Inspect = (value: unknown, path: string) => Problem[];

function check(path: string, option: string, inspect: Inspect): { path: string; mistakes: string[] } {
  const text = readText(path, option);
  const read = readJson(text, { comments: true });
  if (read.kind === 'wrong') {
    const at = / \(line (\d+), column (\d+)\)/.exec(read.problem);
    const where = at === null ? '1:1' : `${at[1]}:${at[2]}`;
    return { path, mistakes: [`${path}:${where}: it ${read.problem.replace(at?.[0] ?? '', '')}.`] };
  }
  const positions = positionsIn(text);
  const mistakes = inspect(read.value, path).map((problem) => ({ ...positions(problem.path), problem }));
  mistakes.sort((one, other) => one.line - other.line || one.column - other.column);
  return {
    path,
    mistakes: mistakes.map(({ line, column, problem: { sentence } }) =>
      `${path}:${line}:${column}: ${sentence}`.replace(/[^?]$/, '$&.'),
    ),
  };
}

const policyProblems: Inspect = (value) => {
  const found = policyListIn(value);
  if (found.kind === 'wrong') return [{ path: found.path, sentence: `it ${found.problem}` }];
  const { problems } = inspectPolicies(found.list, localSettings.minRetentionDays);
  return problems.map(({ path, sentence }) => ({ path: [...found.path, ...path], sentence }));
};

const stageProblems: Inspect = (value, path) => inspectSettings(basename(path).replace(/\.json$/, ''), value).problems;

interface Position {
  line: number;
  column: number;
}

/** Finds the position of a value; for a missing one, the position of what should contain it. */
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
