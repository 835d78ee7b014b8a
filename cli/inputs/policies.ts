import { dottedName } from '../../lambda/policy/aspects.ts';
import { nearest } from '../../lambda/policy/nearest.ts';
import type { PolicySource } from '../../lambda/policy/parse.ts';
import { placeholderProblem } from '../../lambda/settings/placeholders.ts';
import type { Options } from '../command-line/options.ts';
import samplePolicies from '../embedded-service/sample-policies.json' with { type: 'json' };
import { UsageError } from '../events/mistakes.ts';
import { type FromFile, inspectFile, type LimitName, limitNames, type PolicyFile } from './inspect.ts';
import { readAgain } from './read-text.ts';
import type { AddressInFile } from './server.ts';

/** What a stage file and the values of the chart settle besides the policies. */
type FileSettings = { path?: string } & Pick<PolicyFile, 'gmsUrl' | 'name' | 'noIdentity' | LimitName>;

/**
 * A policies file is accepted completely or not at all (only in Parameter Store does a single policy fail alone). It
 * says the same as `validate`, with the same lines.
 * @param minRetentionDays the floor, where the command line names one
 * @throws UsageError
 */
export function readPolicies(path: string, minRetentionDays?: number): ReadPolicies {
  const { mistakes, warnings, found } = inspectFile(path, minRetentionDays);
  if (found === undefined || mistakes.length > 0) throw new UsageError([...mistakes, ...warnings].join('\n'));
  const { list, names, ...settings } = found;
  return { source: { name: path, list }, names: names.map(dottedName), warnings, settings: { path, ...settings } };
}

/**
 * The address in the file, for a run that takes it from there.
 * @throws UsageError for one that was copied from an example
 */
export function addressInPolicies({ path = '', gmsUrl, noIdentity }: FileSettings): AddressInFile | undefined {
  if (gmsUrl === undefined) return undefined;
  const from = `${gmsUrl.key} of ${path}`;
  const problem = placeholderProblem(gmsUrl.value);
  if (problem !== undefined) throw new UsageError(`${from}: ${problem}, or give --gms-url URL.`);
  return { text: gmsUrl.value, from, ...(noIdentity && { noIdentity: `${noIdentity.key} of ${path}` }) };
}

type ServerNames = Pick<Options, 'gmsUrl' | 'tokenFile' | 'identity'>;

const sendsNoToken = ({ gmsUrl, tokenFile }: ServerNames, { noIdentity }: FileSettings): boolean =>
  noIdentity !== undefined && gmsUrl === undefined && tokenFile === undefined;

/** The options that name the same server without the file, for commands in messages. */
export const withServer = <Given extends ServerNames>(given: Given, settings: FileSettings): Given =>
  given.gmsUrl !== undefined || settings.gmsUrl === undefined
    ? given
    : { ...given, gmsUrl: settings.gmsUrl.value, ...(sendsNoToken(given, settings) && { identity: false }) };

/** Which file and which key each setting of a run came from; undefined for a list alone. */
export function originOf(settings: FileSettings, given: ServerNames & Pick<Options, 'name'> = {}): string | undefined {
  const { path, gmsUrl, name, noIdentity, ...limits } = settings;
  const from = (what: string, setting: FromFile<string | number> | undefined, option?: string | undefined) =>
    setting === undefined || setting.isOption || option !== undefined
      ? []
      : [setting.key === what ? `${what} ${setting.value}` : `${what} ${setting.value} (${setting.key})`];
  const taken = [
    ...from('the address', gmsUrl, given.gmsUrl),
    ...from('the name', name, given.name),
    ...(noIdentity && sendsNoToken(given, settings) ? [`no token (${noIdentity.key})`] : []),
    ...limitNames.flatMap((limit) => from(limit, limits[limit])),
  ];
  return taken.length === 0 ? undefined : `From ${path}: ${taken.join(', ')}.`;
}

/**
 * @param indices names that must be among the policies
 * @throws UsageError
 */
function checkIndices(indices: readonly string[], known: readonly string[], from: string): void {
  for (const name of indices) {
    if (known.some((one) => one.toLowerCase() === name.toLowerCase())) continue;
    const meant = nearest(name, known);
    const hint = meant ? `did you mean ${meant}?` : `it has ${known.join(', ')}.`;
    throw new UsageError(`${name}: ${from} has no policy for it; ${hint}`);
  }
}

export interface Policies {
  names: string[];
  /** How many of them this run covers. */
  count: number;
  /** A line for each doubt about them. */
  warnings: string[];
  settings: FileSettings;
  /** At first what was checked before the first request, then the file as it is now. Throws UsageError. */
  read(): PolicySource[];
}

/** A policies file that a run can use. */
type ReadPolicies = Pick<Policies, 'names' | 'warnings' | 'settings'> & { source: PolicySource };

type Indices = readonly string[] | undefined;

/**
 * A file is reread before each truncation: someone may have made it stricter in the meantime.
 * @throws UsageError
 */
export function policiesFile(path: string, indices: Indices, minRetentionDays?: number): Policies {
  const again = readAgain(path, () => readPolicies(path, minRetentionDays));
  const checked = again();
  let isFirst = true;
  return covering(checked, indices, path, () => {
    const { source } = isFirst ? checked : again();
    isFirst = false;
    return [source];
  });
}

/** @throws UsageError */
export function samplePolicyList(indices: Indices): Policies {
  const source = { name: 'the sample policies', list: samplePolicies };
  const names = samplePolicies.map(({ entityType, aspect }) => `${entityType}.${aspect}`);
  return covering({ source, names, warnings: [], settings: {} }, indices, source.name, () => [source]);
}

/** The limits of the command line take the place of those in the file. */
export function withLimits(policies: Policies, given: Pick<Options, LimitName>): Policies {
  const limits = limitNames.flatMap((name) => {
    const value = given[name];
    return value === undefined ? [] : [[name, { value, key: name, isOption: true }]];
  });
  return { ...policies, settings: { ...policies.settings, ...Object.fromEntries(limits) } };
}

/** For a release, which needs no policy. */
export const noPolicies: Policies = { names: [], count: 0, warnings: [], settings: {}, read: () => [] };

function covering({ names, warnings, settings }: ReadPolicies, indices: Indices, from: string, read: Policies['read']) {
  if (indices) checkIndices(indices, names, from);
  const count = indices ? new Set(indices.map((name) => name.toLowerCase())).size : names.length;
  return { names, count, warnings, settings, read };
}
