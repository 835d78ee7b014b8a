import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isPage } from '../../../cli/pages/document.ts';
import type { IndexPicture, NightPoint, Page } from '../../../cli/pages/model.ts';
import { renderPage } from '../../../cli/pages/render.ts';
import { dayMillis } from '../../../lambda/facts/limits.ts';
import { samples } from '../../pages/samples.ts';

const start = Date.UTC(2026, 2, 1, 3, 30);
const night = (day: number, rows: number, more: Partial<NightPoint> = {}): NightPoint => ({
  at: start + day * dayMillis,
  rows,
  ...more,
});

/** A page of one index. */
const pageOf = (index: Partial<IndexPicture>, more: Partial<Page> = {}): string =>
  renderPage({
    kind: 'run',
    title: 'DataHub retention: run',
    heading: '1 truncated',
    severity: 'ok',
    about: [],
    totals: [],
    attention: [],
    allWell: 'Nothing needs attention.',
    indices: [{ name: 'dataset.operation', facts: [], ...index }],
    toKnow: [],
    unmanaged: [],
    ...more,
  });

const pathsOf = (html: string): string[] => [...html.matchAll(/<path class="line" d="([^"]*)"/g)].map(([, d]) => d!);

describe('every page', () => {
  it.each(Object.entries(samples))('%s is one file that loads nothing and runs no script', (_name, make) => {
    const html = renderPage(make());
    expect(html).not.toMatch(/<(script|img|link|iframe|object|embed|base|form|a href="[^#])/);
    expect(html).not.toMatch(/<[^>]* (style|src|on\w+)=/);
    expect(html).toContain(`content="default-src 'none'; style-src 'sha256-`);
    expect(isPage(html)).toBe(true);
  });

  it('has exactly the style that its content security policy allows', () => {
    const html = pageOf({});
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)![1]!;
    const hash = createHash('sha256').update(style).digest('base64');
    expect(html).toContain(`style-src 'sha256-${hash}'`);
  });
});

describe('what others have written', () => {
  const markup = '<img src=x onerror=alert(1)>';

  it.each<[string, Partial<IndexPicture>, Partial<Page>]>([
    ['the name of an index', { name: `dataset.${markup}` }, {}],
    ["a policy's note", { facts: [{ term: 'Note', text: markup }] }, {}],
    ['a sentence of a server', { sentence: markup }, {}],
    ['the message as it was sent', {}, { message: { subject: markup, text: markup } }],
    ['an index without a policy', {}, { unmanaged: [{ name: markup }] }],
    [
      'a next step',
      {},
      {
        attention: [
          {
            severity: 'failed',
            title: markup,
            lines: [markup],
            instructions: [{ say: markup, line: markup, typedIn: 'search-engine' }],
            next: { text: markup, command: { say: markup, line: markup, typedIn: 'shell' } },
          },
        ],
      },
    ],
  ])('%s is shown as text', (_name, index, more) => {
    const html = pageOf({ bar: { parts: [{ fate: 'stays', rows: 1 }] }, ...index }, more);
    expect(html).not.toContain('<img');
    expect(html.replaceAll('<wbr>', '')).toContain('&lt;img src=x onerror=alert(1)&gt;');
  });
});

describe('the history of nights', () => {
  it('is not drawn without a night', () => {
    expect(pageOf({ nights: [] })).not.toContain('night by night');
  });

  it('of one night is a number', () => {
    const html = pageOf({ nights: [night(0, 1234, { overdue: 56, mb: 7 })] });
    expect(html).toContain('One night is remembered, 1 Mar 2026: 1,234 rows, 56 past the retention, 7.0 MB.');
    expect(pathsOf(html)).toEqual([]);
  });

  it('has a gap where no night is remembered', () => {
    const nights = [0, 1, 2, 10, 11, 12].map((day) => night(day, 1000 + day));
    const [rows] = pathsOf(pageOf({ nights }));
    expect(rows!.match(/M/g)).toHaveLength(2);
    expect(pageOf({ nights })).toContain('1 gap in which no night is remembered.');
  });

  it('of weekly runs has no gaps', () => {
    const nights = [0, 7, 14, 21].map((day) => night(day, 1000 + day));
    expect(pathsOf(pageOf({ nights }))[0]!.match(/M/g)).toHaveLength(1);
  });

  it('begins at zero', () => {
    const nights = [night(0, 900), night(1, 1000)];
    // 1,000 rows are 72 pixels high, from 14 to 86.
    expect(pathsOf(pageOf({ nights }))[0]).toBe('M0,21.2L1000,14');
  });

  it('over a million-fold range says that its scale is logarithmic, and still shows the smallest', () => {
    const nights = [night(0, 3), night(1, 3000), night(2, 3_000_000)];
    const html = pageOf({ nights });
    expect(html).toContain('Rows, log scale');
    expect(html).toContain('The scale is logarithmic.');
    const heights = [...pathsOf(html)[0]!.matchAll(/,([\d.]+)/g)].map(([, y]) => 86 - Number(y));
    expect(heights[0]).toBeGreaterThan(3);
    // Equal factors are about equal steps: near 0 the scale is linear, so that 0 has a place.
    expect(heights[2]! - heights[1]!).toBeCloseTo(heights[1]! - heights[0]!, -1);
  });

  it('of an index that was emptied and filled again draws the zero', () => {
    const nights = [night(0, 3_000_000), night(1, 0), night(2, 3)];
    expect(pathsOf(pageOf({ nights }))[0]).toContain(',86');
  });
});

describe('the bar of an index', () => {
  it('says of no rows that there are none', () => {
    const html = pageOf({ bar: { parts: [{ fate: 'stays', rows: 0 }], cutDays: 90 } });
    expect(html).toContain('The index has no rows.');
  });

  it('has cut, threshold and ceiling at their places', () => {
    const parts = [
      { fate: 'goes', rows: 250, from: 90 },
      { fate: 'stays', rows: 750, to: 90 },
    ] as const;
    const html = pageOf({ bar: { parts: [...parts], cutDays: 90, threshold: 10, ceiling: 80 } });
    expect(html).toMatch(/<line class="mark" x1="25%"/);
    expect(html).toMatch(/<line class="limit" x1="10%"/);
    expect(html).toMatch(/<line class="limit" x1="80%"/);
    expect(html).toContain('250 would go (over 90 d), 25.0 %.');
  });
});

describe('many indices', () => {
  it('with nothing to do are folded away, and the others are not', () => {
    const html = renderPage(samples['two hundred policies']!());
    expect(html).toContain('<summary>180 indices where nothing was to be done</summary>');
    expect(html.indexOf('>dataset.<wbr>aspect<wbr>Number193<')).toBeLessThan(html.indexOf('180 indices where'));
  });
});
