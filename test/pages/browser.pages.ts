import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Chromium,
  findChromium,
  type OpenPage,
  startChromium,
  type Viewport,
} from '../../build/pictures/chromium.ts';
import { renderPage } from '../../cli/pages/render.ts';
import { samples } from './samples.ts';
import { type Text, textsOf, worstContrasts } from './seen.ts';

const program = findChromium();
if (program === undefined) {
  console.log(
    'Skipped: no Chromium here to open the pages in (Debian: apt-get install chromium; CHROMIUM names another).',
  );
}

const phone = { width: 360, height: 740 };
const desktop = { width: 1280, height: 900 };
const views = [
  { ...phone, scheme: 'light' },
  { ...phone, scheme: 'dark' },
  { ...desktop, scheme: 'light' },
  { ...desktop, scheme: 'dark' },
] as const satisfies Viewport[];

const folder = mkdtempSync(join(tmpdir(), 'retention-pages-'));
let browser: Chromium;
beforeAll(async () => {
  if (program !== undefined) browser = await startChromium(program);
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function opened<Result>(
  html: string,
  view: Viewport,
  look: (page: OpenPage) => Promise<Result>,
): Promise<Result> {
  const file = join(folder, 'page.html');
  writeFileSync(file, html);
  const page = await browser.open(file, view);
  try {
    return await look(page);
  } finally {
    await page.close();
  }
}

describe.skipIf(program === undefined).each(Object.entries(samples))('the page of %s', (_name, make) => {
  const html = renderPage(make());

  test.each(views)('is quiet, asks nobody, and is no wider than $width pixels ($scheme)', async (view) => {
    await opened(html, view, async (page) => {
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect(width).toBeLessThanOrEqual(view.width);
      // With everything expanded, too.
      await page.evaluate("[...document.querySelectorAll('details')].map((one) => { one.open = true; return 1; })");
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(view.width);
      expect(await page.evaluate<string>('document.title')).toMatch(/^DataHub retention: /);
      expect([page.messages, page.requests]).toEqual([[], []]);
    });
  });

  test.each(['light', 'dark'] as const)('keeps its contrast (%s)', async (scheme) => {
    const texts = await opened(html, { ...desktop, scheme }, (page) => page.evaluate<Text[]>(textsOf));
    expect(texts.length).toBeGreaterThan(5);
    expect(worstContrasts(texts)).toEqual([]);
  });

  test('is printed in dark on white, whatever the screen looks like', async () => {
    const view = { width: 720, height: 1000, scheme: 'dark', media: 'print' } as const;
    const texts = await opened(html, view, (page) => page.evaluate<Text[]>(textsOf));
    expect(worstContrasts(texts)).toEqual([]);
    expect(texts[0]?.behind).toBe('rgb(255, 255, 255)');
  });

  test('names and describes every picture', async () => {
    const pictures = await opened(html, views[0], (page) =>
      page.evaluate<Array<[string, string]>>(
        `[...document.querySelectorAll('svg[role=img]')].map((one) => [
          document.getElementById(one.getAttribute('aria-labelledby')).textContent,
          document.getElementById(one.getAttribute('aria-describedby')).textContent,
        ])`,
      ),
    );
    for (const [title, description] of pictures) {
      expect(title).toMatch(/\S{3}/);
      expect(description).toMatch(/^.{15,}\.$/s);
    }
  });

  test('is walked through by headings, landmarks and captions', async () => {
    const found = await opened(html, views[0], (page) =>
      page.evaluate<{ levels: number[]; nameless: number; ids: number; twice: number; mains: number }>(
        `(() => {
          const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
          return {
            levels: [...document.querySelectorAll('h1,h2,h3,h4')].map(({ tagName }) => Number(tagName[1])),
            nameless: [...document.querySelectorAll('table')].filter((one) => !one.caption).length,
            ids: ids.length,
            twice: ids.length - new Set(ids).size,
            mains: document.querySelectorAll('main').length,
          };
        })()`,
      ),
    );
    expect(found.levels.filter((level) => level === 1)).toHaveLength(1);
    const steps = found.levels.slice(1).map((level, at) => level - found.levels[at]!);
    expect(Math.max(0, ...steps)).toBeLessThanOrEqual(1);
    expect([found.nameless, found.twice, found.mains]).toEqual([0, 0, 1]);
  });
});

describe.skipIf(program === undefined)('the policy in a page', () => {
  test('takes no script and no picture from anywhere, even where markup had got in', async () => {
    const html = renderPage(samples['survey']!()).replace(
      '<main',
      '<script>document.title = "taken"</script><img src="http://127.0.0.1:9/x.png" onerror="document.title = \'taken\'"><p style="color: red">x</p><main',
    );
    await opened(html, views[0], async (page) => {
      expect(await page.evaluate<string>('document.title')).toMatch(/^DataHub retention: /);
      expect(page.messages.join(' ')).toMatch(/Content Security Policy/);
    });
  });
});
