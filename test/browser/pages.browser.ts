import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHere } from '../cli/here.ts';
import { startSimulatedGms } from '../simulated-gms/server.ts';
import { type Browser, findChromium, openChromium } from './chromium.ts';

/** The page of a survey, as a person sees it: on a desk and on a phone, in light and dark. */

const program = findChromium();
const measure = readFileSync(new URL('measure.js', import.meta.url), 'utf8');
const looks = [1400, 390].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ width, scheme })));

describe.skipIf(program === undefined)('The page of a survey', () => {
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-pages-'));
  const page = (name: string) => join(folder, `${name}.html`);
  let browser: Browser;

  async function surveyed(name: string, faults: string[]): Promise<void> {
    const service = await startSimulatedGms({ faults });
    writeFileSync(join(folder, 'token'), service.token);
    const server = ['--gms-url', service.url, '--token-file', join(folder, 'token')];
    const { status } = await runHere(['survey', ...server, '--ledger', join(folder, 'ledger'), '--html', page(name)]);
    await service.close();
    expect(status).toBe(0);
  }

  beforeAll(async () => {
    browser = await openChromium(program!);
    await surveyed('well', []);
    await surveyed('troubled', ['denied=sizes', 'denied=status']);
  });
  afterAll(() => {
    browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const cases = ['well', 'troubled'].flatMap((name) => looks.map((look) => [name, look.width, look.scheme] as const));
  test.each(cases)(
    'of a server that is %s, %d pixels wide, in %s, has nothing to stumble over',
    async (name, width, scheme) => {
      expect(await browser.evaluate(page(name), { width, scheme }, measure)).toEqual([]);
    },
  );

  test('explains the colors of every bar', async () => {
    const unexplained = `(() => {
      const of = (where) => [...document.querySelectorAll(where + ' rect')].map((one) => one.getAttribute('class'));
      return of('svg[role=img]').filter((color) => !of('.legend').includes(color));
    })()`;
    expect(await browser.evaluate(page('well'), looks[0]!, unexplained)).toEqual([]);
  });

  test('has a heading for what is wrong only where something is', async () => {
    const headings = `[...document.querySelectorAll('h2')].map((one) => one.textContent)`;
    expect(await browser.evaluate<string[]>(page('well'), looks[0]!, headings)).not.toContain('Look at this first');
    expect(await browser.evaluate<string[]>(page('troubled'), looks[0]!, headings)).toContain('Look at this first');
  });
});
