import { basename } from 'node:path';
import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';
import type { IndexNames } from '../../lambda/gms/backend.ts';
import { maxPolicies } from '../../lambda/model/policy-fields.ts';
import { namesIn } from '../../lambda/policy/aspects.ts';
import { andMore, mostProblems, type Problem, shown } from '../../lambda/policy/explain.ts';
import { readJson } from '../../lambda/policy/read-json.ts';
import { usualLimits } from '../../lambda/settings/fields.ts';
import { inspectPolicies } from '../../lambda/settings/policies.ts';
import { readStage } from '../../lambda/settings/settings.ts';
import { nameWarning, warningsOf } from '../../lambda/settings/warnings.ts';
import { readText } from './read-text.ts';

/** Files of policies and stages: what is wrong with them, as `file:line:column: sentence`, which editors can open. */
export interface InspectedFile<Found> {
  path: string;
  mistakes: string[];
  warnings: string[];
  /** What the file holds; undefined if it cannot be understood at all. */
  found?: Found;
}

/** What one kind of file is inspected for; the paths start at its content. */
type Inspect<Found> = (value: unknown, path: string) => { problems: Problem[]; warnings: Problem[]; found?: Found };

/** @throws UsageError if the file cannot be read */
export function inspectFile<Found>(path: string, option: string, inspect: Inspect<Found>): InspectedFile<Found> {
  const text = readText(path, option);
  if (recipeOfGc.test(text)) return { path, mistakes: [`${path}:1:1: ${isRecipe}`], warnings: [] };
  const read = readJson(text, { comments: true });
  if (read.kind === 'wrong') {
    const { problem, at = { line: 1, column: 1 } } = read;
    return { path, mistakes: [`${path}:${at.line}:${at.column}: it ${problem}.`], warnings: [] };
  }
  const positions = positionsIn(text);
  const lines = (all: readonly Problem[], kind: string) => {
    const first = all.slice(0, mostProblems + 1);
    const left = all.slice(first.length).reduce((sum, { stands = 1 }) => sum + stands, 0);
    const problems = left > 0 ? [...first, andMore(left, first)] : first;
    return problems
      .map(({ path: at, sentence }) => ({ ...positions(at), sentence }))
      .sort((one, other) => one.line - other.line || one.column - other.column)
      .map(({ line, column, sentence }) => `${path}:${line}:${column}: ${kind}${sentence}`.replace(/[^?.]$/, '$&.'));
  };
  const { problems, warnings, found } = inspect(read.value, path);
  return { path, mistakes: lines(problems, ''), warnings: lines(warnings, 'warning: '), found };
}

/** In YAML or JSON: people who come from datahub-gc have one. */
const recipeOfGc = /["']?\btype["']?\s*:\s*["']?datahub-gc\b/;
const isRecipe =
  'it is a recipe of datahub-gc, and this job takes a JSON list of policies: docs/moving-from-datahub-gc.md says what replaces its settings.';

/** A list of policies, or an object with the list under `policies` and the address of a schema for editors. */
export const inspectList: Inspect<{ list: unknown[]; policies: IndexNames[] }> = (value) => {
  const wrong = (sentence: string, ...path: PropertyKey[]) => ({ problems: [{ path, sentence }], warnings: [] });
  const inObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!Array.isArray(value) && !(inObject && 'policies' in value)) {
    return wrong('it must hold a list of policies: put [ and ] around them');
  }
  if (inObject && 'gmsUrl' in value) return wrong('it holds a whole stage: give it with --stage', 'gmsUrl');
  const list: unknown = Array.isArray(value) ? value : (value as { policies: unknown }).policies;
  const unknown = inObject ? Object.keys(value).find((key) => key !== '$schema' && key !== 'policies') : undefined;
  if (unknown !== undefined) {
    const known = 'besides "policies" only "$schema" is allowed';
    return wrong(`it has the field ${shown(unknown)}: ${known}`, unknown);
  }
  if (!Array.isArray(list)) return wrong('it must hold a list under "policies": put [ and ] around them', 'policies');
  if (list.length === 0) return wrong('it holds an empty list: put a policy into it');
  if (list.length > maxPolicies) {
    return wrong(`it holds ${list.length} policies; a run takes at most ${maxPolicies}`);
  }
  const { problems, policies } = inspectPolicies(list, usualLimits.minRetentionDays);
  const inFile = (one: Problem): Problem => ({ ...one, path: [...(inObject ? ['policies'] : []), ...one.path] });
  return {
    problems: problems.map(inFile),
    warnings: nameDoubts(list).map(inFile),
    found: { list, policies: policies.flatMap(({ names }) => names ?? []) },
  };
};

/** Names that almost match one of DataHub's own, also of policies that have a mistake; paths start at the list. */
const nameDoubts = (list: readonly unknown[]): Problem[] =>
  list.slice(0, maxPolicies).flatMap((item, at) => {
    const names = namesIn(item);
    const doubt = names && nameWarning(names);
    return doubt === undefined ? [] : [{ path: [at, 'aspect'], sentence: `policy ${at + 1}: ${doubt}` }];
  });

/** A stage file, with its policies. */
export const inspectStage: Inspect<{ gmsUrl: string }> = (value, path) => {
  const { problems, found } = readStage(basename(path).replace(/\.json$/, ''), value);
  const policies = (value as { policies?: unknown } | null)?.policies;
  const warnings = found
    ? warningsOf(found.settings).map(({ path: at, text }) => ({ path: at, sentence: text }))
    : nameDoubts(Array.isArray(policies) ? policies : []).map((one) => ({ ...one, path: ['policies', ...one.path] }));
  return { problems, warnings, found: found && { gmsUrl: found.settings.gmsUrl } };
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
    while (rest > (lines[line]?.length ?? rest)) rest -= (lines[line++]?.length ?? 0) + 1;
    return { line: line + 1, column: rest + 1 };
  };
}
