import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breakable, html } from '../../../cli/pages/html.ts';
import { anyText } from '../../support/arbitrary.ts';

describe('a text in a page', () => {
  it('is shown as text, even if it contains markup', () => {
    expect(html`<p title="${'" onclick="x'}">${'<script>alert(1)</script> & `more`'}</p>`.text).toBe(
      '<p title="&quot; onclick=&quot;x">&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#96;more&#96;</p>',
    );
  });

  it('never opens a tag, an attribute or a reference with any character', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        expect(html`${text}`.text.replace(/&(amp|lt|gt|quot|#39|#96);/g, '')).not.toMatch(/[<>&"'`]/);
      }),
    );
  });

  it('has no character that hides text or turns it around', () => {
    expect(html`${'safe\u202egnp.exe\u0000\u200b'}`.text).toBe('safe\ufffdgnp.exe\ufffd\ufffd');
  });

  it('is left out if there is none, and a zero is shown', () => {
    expect(html`${undefined}${false}${0}`.text).toBe('0');
  });
});

describe('the name of an index', () => {
  it('may be broken behind dots and before capitals', () => {
    expect(html`${breakable('dataset.datasetProfile')}`.text).toBe('dataset.<wbr>dataset<wbr>Profile');
  });

  it('is text in each of its pieces', () => {
    expect(html`${breakable('a.<b>B')}`.text).toBe('a.<wbr>&lt;b&gt;B');
  });
});
