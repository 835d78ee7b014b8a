/** A template of CloudFormation, as `cdk.out` has it. */
export type Template = Record<string, Record<string, { Type?: string }>>;

/**
 * What a template has otherwise than the real one, as `what: where (how often)`: a resource is named by its type, and its
 * content by the path below `Properties`.
 */
export function differences(real: Template, other: Template): string[] {
  const found: string[] = [];
  for (const section of union(real, other)) {
    for (const name of union(real[section], other[section])) {
      const [one, two] = [real[section]?.[name], other[section]?.[name]];
      const what = (one ?? two)?.Type ?? section;
      if (one === undefined) found.push(`${what}: only deployed`);
      else if (two === undefined) found.push(`${what}: not deployed`);
      else found.push(...paths(one, two, []).map((path) => `${what}: ${path.join('.').replace(/^Properties\./, '')}`));
    }
  }
  return [...new Set(found)].sort().map((line) => `${line} (${found.filter((each) => each === line).length})`);
}

/** Where two values differ; two arrays of different lengths differ as a whole. */
function paths(one: unknown, two: unknown, above: string[]): string[][] {
  if (JSON.stringify(one) === JSON.stringify(two)) return [];
  const areObjects = one instanceof Object && two instanceof Object && Array.isArray(one) === Array.isArray(two);
  if (!areObjects || (Array.isArray(one) && one.length !== (two as unknown[]).length)) return [above];
  const [first, second] = [one, two] as Record<string, unknown>[];
  return union(first, second).flatMap((key) => {
    // A statement's place says nothing.
    const step = Array.isArray(one) ? '*' : key;
    return paths(first![key], second![key], [...above, step]);
  });
}

const union = (one: object = {}, two: object = {}): string[] => [
  ...new Set([...Object.keys(one), ...Object.keys(two)]),
];
