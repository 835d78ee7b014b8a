import { basename } from 'node:path';
import * as z from 'zod';
import chartSchema from '../../kubernetes/values.schema.json' with { type: 'json' };
import type { IndexNames } from '../../lambda/gms/backend.ts';
import { readBaseUrl } from '../../lambda/gms/http/base-url.ts';
import { isObject } from '../../lambda/gms/responses/json-value.ts';
import { maxPolicies } from '../../lambda/model/policy-fields.ts';
import { namesIn } from '../../lambda/policy/aspects.ts';
import {
  andMore,
  jsonExcerpt,
  maxProblems,
  type Problem,
  problemsOf,
  unknownKey,
} from '../../lambda/policy/explain.ts';
import { defaultLimits, fileFields, type GivenSettings, settingFields } from '../../lambda/settings/fields.ts';
import { placeholderProblem } from '../../lambda/settings/placeholders.ts';
import { inspectPolicies } from '../../lambda/settings/policies.ts';
import { readStage } from '../../lambda/settings/settings.ts';
import { nameWarning, warningsOf } from '../../lambda/settings/warnings.ts';
import { readDocument } from './document.ts';
import { readText } from './read-text.ts';

/**
 * Files with policies, as people have them: a list, a stage file, the values of the chart. What is wrong with them
 * comes as `file:line:column: sentence`, which editors can open.
 */
interface InspectedFile {
  path: string;
  mistakes: string[];
  /** Values of an example that were not replaced: mistakes for `validate`, and for a run that uses them. */
  placeholders: string[];
  warnings: string[];
  /** What the file holds; undefined if it cannot be understood at all. */
  found?: PolicyFile;
}

export interface FromFile<Value> {
  value: Value;
  key: string;
  /** It is of the command line instead. */
  isOption?: boolean;
}

/** The limits of a stage that count for a run anywhere. */
export const limitNames = ['minRetentionDays', 'maxRunHours', 'maxRowsPerRun'] as const;
export type LimitName = (typeof limitNames)[number];

/** What a file holds that decides about a run. */
export interface PolicyFile extends Partial<Record<LimitName, FromFile<number>>> {
  kind: 'list' | 'stage' | 'values';
  list: readonly unknown[];
  names: IndexNames[];
  /** Where the list is. */
  at: readonly string[];
  gmsUrl?: FromFile<string> | undefined;
  name?: FromFile<string> | undefined;
  /** Written down: the server asks for no token. */
  noIdentity?: FromFile<true> | undefined;
}

interface Inspection {
  problems: Problem[];
  placeholders?: Problem[];
  warnings?: Problem[];
  found?: PolicyFile;
}

/**
 * @param minRetentionDays the floor of a list, where the file has no other
 * @throws UsageError if the file cannot be read
 */
export function inspectFile(path: string, minRetentionDays: number = defaultLimits.minRetentionDays): InspectedFile {
  const text = readText(path, '--policies');
  const nothing = { path, placeholders: [], warnings: [] };
  if (recipeOfGc.test(text)) return { ...nothing, mistakes: [`${path}:1:1: ${recipeProblem}`] };
  const read = readDocument(text, path);
  if (read.kind === 'wrong') {
    const { problem, at } = read;
    return { ...nothing, mistakes: [`${path}:${at.line}:${at.column}: it ${problem}.`] };
  }
  const lines = (all: readonly Problem[], kind: string) => {
    const first = all.slice(0, maxProblems + 1);
    const left = all.slice(first.length).reduce((sum, { problems: more = 1 }) => sum + more, 0);
    const problems = left > 0 ? [...first, andMore(left, first)] : first;
    return problems
      .map(({ path: at, sentence }) => ({ ...read.placeOf(at), sentence }))
      .sort((one, other) => one.line - other.line || one.column - other.column)
      .map(({ line, column, sentence }) => `${path}:${line}:${column}: ${kind}${sentence}`.replace(/[^?.]$/, '$&.'));
  };
  const { problems, placeholders = [], warnings = [], found } = inspect(read.value, path, minRetentionDays);
  const octals = found === undefined ? [] : read.ambiguous(found.kind === 'stage' ? [] : found.at);
  return {
    path,
    mistakes: lines([...problems, ...octals], ''),
    placeholders: lines(placeholders, ''),
    warnings: lines(warnings, 'warning: '),
    found,
  };
}

/** In YAML or JSON: people who come from datahub-gc have one. */
const recipeOfGc = /["']?\btype["']?\s*:\s*["']?datahub-gc\b/;
const recipeProblem =
  'it is a recipe of datahub-gc, and this job takes a list of policies: docs/moving-from-datahub-gc.md says what replaces its settings.';

type Mapping = Record<string, unknown>;

const wrong = (sentence: string, ...path: PropertyKey[]): Inspection => ({ problems: [{ path, sentence }] });
const inside = (problems: readonly Problem[], ...keys: PropertyKey[]): Problem[] =>
  problems.map((one) => ({ ...one, path: [...keys, ...one.path] }));

const stageKeys = Object.keys({ ...settingFields, ...fileFields });
const chartKeys = Object.keys(chartSchema.properties);
/** What only one of the two has tells them apart. */
const onlyStage = stageKeys.filter((key) => key !== '$schema' && !chartKeys.includes(key));
const onlyChart = chartKeys.filter((key) => !stageKeys.includes(key));
const both = chartKeys.filter((key) => key !== 'policies' && stageKeys.includes(key));

/** By what is in the file, and by its name only where it could be either. */
function inspect(value: unknown, path: string, floor: number): Inspection {
  if (Array.isArray(value)) return inspectPolicyList(value, [], floor, { kind: 'list' });
  if (!isObject(value)) return wrong('it must hold a list of policies: put [ and ] around them');
  const mismatch = problemOfKind(value);
  if (mismatch !== undefined) return wrong(mismatch);
  const has = (keys: readonly string[]) => keys.some((key) => key in value);
  const hasStageKeys = 'gmsUrl' in value || (has(onlyStage) && !has(onlyChart));
  if (hasStageKeys || (has(both) && !has(onlyChart) && path.endsWith('.json'))) return inspectStage(value, path);
  if ('policies' in value && has([...onlyChart, ...both])) return inspectValues(value, floor);
  // A parent chart has the values of ours below the name, or the alias, of its dependency.
  const below = Object.keys(value).filter((key) => {
    const own = value[key];
    return (
      isObject(own) && (Array.isArray(own['policies']) || ('policies' in own && onlyChart.some((one) => one in own)))
    );
  });
  const [ours, second] = Array.isArray(value['policies']) ? [] : below;
  if (ours !== undefined && second !== undefined)
    return wrong(
      `it holds policies in several places (${below.map(jsonExcerpt).join(', ')}): put one into a file of its own`,
    );
  if (ours !== undefined) return inspectValues(value[ours] as Mapping, floor, ours);
  if (!('policies' in value)) return wrong('it must hold a list of policies: put [ and ] around them');
  const unknown = Object.keys(value).find((key) => key !== '$schema' && key !== 'policies');
  if (unknown !== undefined) {
    const known = 'besides "policies" only "$schema" is allowed, unless it is a stage or the values of the chart';
    return wrong(`it has the field ${jsonExcerpt(unknown)}: ${known}`, unknown);
  }
  return inspectPolicyList(value['policies'], ['policies'], floor, { kind: 'list' });
}

/** What is wrong with a file that people take for the values of the chart; never what it holds. */
function problemOfKind(value: Mapping): string | undefined {
  const { apiVersion, kind, helmCharts, resources, policies, gmsUrl, mode } = value;
  if (mode === 'preview' && Array.isArray(policies) && Object.keys(value).length === 2)
    return 'it is what validate --json writes, for a preview of a change: give the file that it was made from (a stage would have a gmsUrl)';
  if (
    helmCharts !== undefined ||
    (resources !== undefined && policies === undefined && gmsUrl === undefined && apiVersion === undefined)
  )
    return 'it is a Kustomize file: give the file that valuesFile under helmCharts names, or put the values below valuesInline into one';
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  if (kind === 'HelmRelease' || kind === 'Application')
    return `its kind is ${kind}: put the values of the chart that it holds into a file of their own`;
  return `it is a ${/^[A-Za-z]{1,40}$/.test(kind) ? kind : 'manifest'} of Kubernetes: give the list of policies or the chart's values file`;
}

type About = Omit<PolicyFile, 'list' | 'names' | 'at'>;

/** @param keys where the list is */
function inspectPolicyList(list: unknown, keys: readonly string[], floor: number, about: About): Inspection {
  if (!Array.isArray(list)) return wrong('it must hold a list under "policies": put [ and ] around them', ...keys);
  if (list.length === 0) return wrong('it holds an empty list: put a policy into it', ...keys);
  if (list.length > maxPolicies) {
    return wrong(`it holds ${list.length} policies; a run takes at most ${maxPolicies}`, ...keys);
  }
  const { problems, policies } = inspectPolicies(list, floor);
  return {
    problems: inside(problems, ...keys),
    warnings: inside(nameWarnings(list), ...keys),
    found: { ...about, at: keys, list, names: policies.flatMap(({ names }) => names ?? []) },
  };
}

/** Names that almost match one of DataHub's own, also of policies that have a mistake; paths start at the list. */
const nameWarnings = (list: readonly unknown[]): Problem[] =>
  list.slice(0, maxPolicies).flatMap((item, at) => {
    const names = namesIn(item);
    const warning = names && nameWarning(names);
    return warning === undefined ? [] : [{ path: [at, 'aspect'], sentence: `policy ${at + 1}: ${warning}` }];
  });

/** A stage file, with its policies; its name is that of the stage. */
function inspectStage(value: Mapping, path: string): Inspection {
  const stage = basename(path).replace(/\.(?:json|ya?ml)$/, '');
  const { problems, found } = readStage(stage, value);
  const list = Array.isArray(value['policies']) ? (value['policies'] as unknown[]) : [];
  if (!found) return { problems, warnings: inside(nameWarnings(list), 'policies') };
  const warnings = warningsOf(found.settings);
  const warningsOfKind = (isPlaceholder?: true) =>
    warnings
      .filter((one) => one.isPlaceholder === isPlaceholder)
      .map((one) => ({ path: one.path, sentence: one.text }));
  const { gmsUrl, policies } = found.settings;
  return {
    problems,
    placeholders: warningsOfKind(true),
    warnings: warningsOfKind(),
    found: {
      kind: 'stage',
      list,
      names: policies.flatMap(({ names }) => names ?? []),
      at: ['policies'],
      gmsUrl: { value: gmsUrl, key: 'gmsUrl' },
      name: { value: stage, key: 'its name' },
      ...noIdentityIn(value, 'noIdentity'),
      ...limitsIn(value, found.settings, (name) => name),
    },
  };
}

/** @param given the settings of a stage, or `server` of the chart */
const noIdentityIn = (given: Mapping, key: string): Pick<PolicyFile, 'noIdentity'> =>
  given['noIdentity'] === true ? { noIdentity: { value: true, key } } : {};

/** Those that are written there: a default is not the file's. */
const limitsIn = (written: Mapping, settings: Pick<GivenSettings, LimitName>, keyOf: (name: string) => string) =>
  Object.fromEntries(
    limitNames.flatMap((name) => {
      const value = settings[name];
      return (written[name] ?? undefined) === undefined ? [] : [[name, { value, key: keyOf(name) }]];
    }),
  ) as Pick<PolicyFile, LimitName>;

/**
 * The values of the chart. Helm itself checks what does not decide about a run.
 * @param above the key of a parent chart
 */
function inspectValues(values: Mapping, floor: number, ...above: string[]): Inspection {
  const server = isObject(values['server']) ? values['server'] : {};
  const serverKeys = Object.keys(chartSchema.properties.server.properties);
  const keyed = (...keys: string[]) => [...above, ...keys].join('.');
  const unknown = (given: Mapping, known: readonly string[], ...keys: string[]): Problem[] =>
    Object.keys(given)
      .filter((key) => !known.includes(key))
      .map((key) => ({ path: [...above, ...keys, key], sentence: unknownKey(key, known) }));
  const text = (key: string): FromFile<string> | undefined => {
    const value = server[key];
    return typeof value === 'string' && value !== '' ? { value, key: keyed('server', key) } : undefined;
  };
  const [gmsUrl, name] = [text('url'), text('name')];
  const address = gmsUrl && readBaseUrl(gmsUrl.value);
  const example = gmsUrl && placeholderProblem(gmsUrl.value);
  const wrongIn = (given: Mapping, name: LimitName | 'noIdentity'): Problem[] => {
    if (given[name] === undefined || given[name] === null) return [];
    const { error } = z.object({ [name]: settingFields[name] }).safeParse(given);
    return error ? problemsOf(error, given, chartKeys) : [];
  };
  const wrongLimits = limitNames.flatMap((limit) => wrongIn(values, limit));
  const limits = wrongLimits.length > 0 ? {} : limitsIn(values, values as GivenSettings, keyed);
  const own = limits.minRetentionDays?.value ?? floor;
  const inspected = inspectPolicyList(values['policies'], [...above, 'policies'], own, {
    kind: 'values',
    gmsUrl,
    name,
    ...noIdentityIn(server, keyed('server', 'noIdentity')),
    ...limits,
  });
  const at = [...above, 'server', 'url'];
  return {
    ...inspected,
    problems: [
      ...unknown(values, chartKeys),
      ...unknown(server, serverKeys, 'server'),
      ...inside(wrongLimits, ...above),
      ...inside(wrongIn(server, 'noIdentity'), ...above, 'server'),
      ...(address?.kind === 'wrong' ? [{ path: at, sentence: `server.url: ${address.problem}` }] : []),
      ...inspected.problems,
    ],
    placeholders: example === undefined ? [] : [{ path: at, sentence: `server.url: ${example}` }],
  };
}
