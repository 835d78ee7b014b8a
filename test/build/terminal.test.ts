import { describe, expect, it } from 'vitest';
import { terminal, themes } from '../../build/pictures/terminal.ts';

const screen = (...texts: string[]) => {
  const one = terminal(20);
  for (const text of texts) one.write(text);
  return one;
};

describe('a terminal that is a picture', () => {
  it('shows a rewritten line as it is in the end', () => {
    expect(screen('50 %\r', '\u001b[K', '60 %\n', 'next').text()).toBe('60 %\nnext');
  });

  it('goes up, and clears what is below', () => {
    expect(screen('one\ntwo\nthree\n', '\u001b[2A\u001b[0J', 'new').text()).toBe('one\nnew');
  });

  it('wraps at its width', () => {
    expect(screen('x'.repeat(25)).text()).toBe(`${'x'.repeat(20)}\n${'x'.repeat(5)}`);
  });

  it('draws colours, bars and text, and no markup from outside', () => {
    const svg = screen('\u001b[32mok\u001b[39m <b>\n██░░').svg(themes.dark, 'a "title"');
    expect(svg).toContain(`fill="${themes.dark.colours[32]}">ok</text>`);
    expect(svg).toContain('&lt;b&gt;</text>');
    expect(svg).toContain('aria-label="a &quot;title&quot;"');
    expect(svg.match(/<rect x="\d+"/g)).toHaveLength(2);
  });
});
