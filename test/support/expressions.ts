/** The queries in rules of Prometheus or a dashboard of Grafana: every text under `expr`, and a variable's own. */
export function expressionsIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) => {
    if (name === 'expr') return [String(value)];
    const variable = name === 'query' && /^label_values\((\w+), \w+\)$/.exec(String(value));
    return variable ? [variable[1]!] : expressionsIn(value);
  });
}
