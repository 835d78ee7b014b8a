/**
 * The text of OpenMetrics 1.0, read by the specification's rules as far as gauges need them
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/). Throws what a collector would refuse.
 */
export function parseOpenMetrics(text: string): Map<string, number> {
  const lines = text.split('\n');
  if (lines.at(-1) !== '' || lines.at(-2) !== '# EOF') throw new Error('the text does not end with # EOF');
  const series = new Map<string, number>();
  const families = new Set<string>();
  let current: { name: string; described: Set<string>; hasSamples: boolean } | undefined;
  for (const line of lines.slice(0, -2)) {
    const described = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line);
    if (described) {
      const [, what = '', name = '', value = ''] = described;
      if (current?.name !== name) {
        if (families.has(name)) throw new Error(`${name} is not in one place`);
        families.add(name);
        current = { name, described: new Set(), hasSamples: false };
      }
      if (current.described.has(what) || current.hasSamples) throw new Error(`${what} of ${name} comes twice or late`);
      current.described.add(what);
      if (what === 'TYPE' && value !== 'gauge') throw new Error(`${name} is a ${value}`);
      if (what === 'UNIT' && !name.endsWith(`_${value}`)) throw new Error(`${name} does not end with its unit`);
      if (what === 'HELP' && /\\(?![\\n"])|(?<!\\)"/.test(value)) throw new Error(`the help of ${name} is not escaped`);
      continue;
    }
    const sample =
      /^([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*",?)*)\} (-?\d+(?:\.\d+)?)$/.exec(line);
    if (sample === null) throw new Error(`no line of OpenMetrics: ${line}`);
    const [, name = '', labels = '', value] = sample;
    if (name !== current?.name) throw new Error(`${name} has no description above it`);
    const names = [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label]) => label);
    if (new Set(names).size !== names.length) throw new Error(`a label comes twice: ${line}`);
    const key = `${name}{${labels}}`;
    if (series.has(key)) throw new Error(`a series comes twice: ${key}`);
    series.set(key, Number(value));
    current.hasSamples = true;
  }
  return series;
}
