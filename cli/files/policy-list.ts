/**
 * The content of a policies file: a list of policies, or an object with the list and the address of a schema for
 * editors.
 */

export type PolicyList =
  | { kind: 'list'; list: unknown[] /** Where the list is in the file. */; path: PropertyKey[] }
  | { kind: 'wrong'; problem: string; path: PropertyKey[] };

const fields = ['$schema', 'policies'];

/**
 * @param value the parsed content of the file
 * @returns the list; or a `problem`, phrased to follow the file's name
 */
export function policyListIn(value: unknown): PolicyList {
  if (Array.isArray(value)) return { kind: 'list', list: value, path: [] };
  const wrong = (problem: string, ...path: PropertyKey[]): PolicyList => ({ kind: 'wrong', problem, path });
  if (typeof value !== 'object' || value === null || !('policies' in value)) {
    return wrong('must hold a list of policies: put [ and ] around them');
  }
  if ('gmsUrl' in value) return wrong('holds a whole stage: give only the list under "policies"', 'gmsUrl');
  const unknown = Object.keys(value).find((key) => !fields.includes(key));
  if (unknown !== undefined) {
    return wrong(`has the field ${JSON.stringify(unknown)}: besides "policies" only "$schema" is allowed`, unknown);
  }
  const { policies } = value;
  if (!Array.isArray(policies)) return wrong('must hold a list under "policies": put [ and ] around them', 'policies');
  return { kind: 'list', list: policies, path: ['policies'] };
}
