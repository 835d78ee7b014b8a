import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';
import { expect, test } from 'vitest';
import { httpDates } from '../../../../lambda/gms/http/http-date.ts';

const noon = Date.UTC(2026, 10, 6, 12);

test.each<[string, number[]]>([
  ['Fri, 06 Nov 2026 12:00:00 GMT', [noon]],
  ['Friday, 06-Nov-26 12:00:00 GMT', [noon]],
  ['Fri Nov  6 12:00:00 2026', [noon]],
  ['Fri, 06 Nov 2026 12:00:00 GMT, Fri Nov  6 12:00:01 2026', [noon, noon + 1000]],
  ['Fri, 06 Nov 2026 12:00:00', []],
  ['2026-11-06T12:00:00', []],
  ['1793966400', []],
  ['yesterday', []],
])('The dates of %j', (header, dates) => {
  expect(httpDates(header)).toEqual(dates);
});

test('A date in the form of asctime is UTC, also where the zone of the machine is another one', () => {
  const source = readFileSync(new URL('../../../../lambda/gms/http/http-date.ts', import.meta.url), 'utf8');
  const script = `${transformSync(source, { loader: 'ts' }).code}
    console.log(httpDates('Fri Nov  6 12:00:00 2026')[0], new Date(0).getTimezoneOffset());`;
  // A thread cannot have a zone of its own.
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, TZ: 'Pacific/Auckland' },
    encoding: 'utf8',
  });
  expect(stdout).toBe(`${noon} -720\n`);
});
