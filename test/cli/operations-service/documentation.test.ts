import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sampleIndices } from '../../../cli/operations-service/samples.ts';
import { faults, faultUsage } from '../../operations-service/faults.ts';
import { profiles } from '../../operations-service/profiles.ts';
import { day, serve } from './service.ts';

/** docs/operations-service.md: its examples are run, and its tables are compared with what they describe. */

const documentation = readFileSync('docs/operations-service.md', 'utf8');

/** The curl commands in order, each with the JSON block that follows it. */
const examples = [...documentation.matchAll(/```sh\n(curl[\s\S]*?)```(?:\n\n```json\n([\s\S]*?)```)?/g)].map(
  ([, command, answer]) => ({ command: command ?? '', answer }),
);

test('the curl examples of the documentation run, in their order, and answer what it says', async () => {
  const service = await serve({ indices: sampleIndices(), seed: 1 });
  const variables = {
    URL: service.url,
    TOKEN: service.token,
    CUTOFF: String(service.now() - 90 * day),
  };
  expect(examples).toHaveLength(7);
  for (const { command, answer } of examples) {
    if (command.includes('getEsTaskStatus')) service.pass(5000);
    const { url, ...request } = curl(words(command, variables));
    const response = await fetch(url, request);
    expect([response.status, command]).toEqual([200, command]);
    const text = await response.text();
    if (answer !== undefined) expect(JSON.parse(text)).toEqual(JSON.parse(answer));
  }
});

test.each([
  ['specification', 'The specification, statement by statement'],
  ['facts', 'Real servers, point by point'],
])('each test of %s is in the table "%s", and nothing else is', (file, heading) => {
  const source = readFileSync(`test/cli/operations-service/${file}.test.ts`, 'utf8');
  const titles = [...source.matchAll(/'((?:\d(?:\.\d)?|point \d+) [^'\n]+)'/g)].map(([, title]) => title);
  const section = documentation.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const told = section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => [...(line.split(' | ').at(-1) ?? '').matchAll(/`([^`]+)`/g)].map(([, title]) => title));
  expect(titles.length).toBeGreaterThan(20);
  expect(told.sort()).toEqual(titles.sort());
});

describe('its tables', () => {
  const cells = documentation.split('\n').map((line) => line.replaceAll('\\|', '|'));

  test.each(faults.map((fault) => [faultUsage(fault), fault.summary]))('hold the fault %s', (usage, summary) => {
    expect(cells).toContain(`| \`${usage}\` | ${summary} |`);
  });

  test.each(profiles.map(({ name, summary }) => [name, summary]))('hold the profile %s', (name, summary) => {
    expect(cells).toContain(`| \`${name}\` | ${summary} |`);
  });

  test.each(sampleIndices())('hold the sample index $entityType.$aspect', (sample) => {
    const rows = 'rows' in sample ? sample.rows.toLocaleString('en') : '';
    expect(cells.join('\n')).toContain(`| \`${sample.entityType}.${sample.aspect}\` | ${rows} |`);
  });
});

/** The words of a simple shell command: quotes, variables, a backslash at the end of a line. */
function words(command: string, variables: Record<string, string>): string[] {
  const filled = (text: string) => text.replace(/\$(\w+)/g, (_, name: string) => variables[name] ?? '');
  return command
    .replaceAll('\\\n', ' ')
    .trim()
    .match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)!
    .map((word) =>
      word.replace(/'([^']*)'|"([^"]*)"|([^'"]+)/g, (_, single?: string, double?: string, bare?: string) =>
        single === undefined ? filled(double ?? bare ?? '') : single,
      ),
    );
}

/** What a curl command sends. Throws for an option that it does not know. */
function curl([program, ...rest]: string[]): { url: string; method: string; headers: Headers; body?: string } {
  expect(program).toBe('curl');
  const headers = new Headers();
  const options = { url: '', method: 'GET' } as { url: string; method: string; body?: string };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '-X' || word === '--request') options.method = rest.shift() ?? '';
    else if (word === '-H' || word === '--header') {
      const [name, ...value] = (rest.shift() ?? '').split(': ');
      headers.append(name ?? '', value.join(': '));
    } else if (word === '-d' || word === '--data-raw') options.body = rest.shift();
    else if (word.startsWith('http')) options.url = word;
    else if (word !== '--location') throw new Error(`an option that the test does not know: ${word}`);
  }
  return { ...options, headers };
}
