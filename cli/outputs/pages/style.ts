import { createHash } from 'node:crypto';

/**
 * How pages look. All of it is in the page, and its hash is in the page's policy: no other style and no script is
 * allowed. Red is for what has failed alone. The colors of rows differ in more than hue: rows to delete are on the
 * left, and both numbers stand above.
 */

const light = `
  --page: #f3f5f7; --paper: #fff; --ink: #16202a; --muted: #55616e; --rule: #dce2e8; --code: #f1f4f7; --link: #0b5c9a;
  --ok: #17733f; --attention: #835500; --failed: #b3261e;
  --goes: #6a3d9a; --stays: #1b5a84;`;

const dark = `
  --page: #0e1318; --paper: #161d25; --ink: #e6ebf0; --muted: #a0acb8; --rule: #2b3540; --code: #1d2630; --link: #84c3f4;
  --ok: #63cb91; --attention: #e3b557; --failed: #ff8f85;
  --goes: #c7a6f2; --stays: #8cc5ec;`;

const sheet = `
:root { color-scheme: light dark; ${light} }
@media (prefers-color-scheme: dark) { :root { ${dark} } }
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body {
  margin: 0; background: var(--page); color: var(--ink); overflow-wrap: anywhere; font-variant-numeric: tabular-nums;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
header, main, footer { max-width: 60rem; margin: 0 auto; padding: 0 1rem; }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .25rem .75rem; }

header { padding-top: 2rem; }
.kicker { margin: 0; color: var(--muted); font-size: .875rem; font-weight: 600; letter-spacing: .02em; }
h1 { margin: .125rem 0 .5rem; font-size: clamp(1.5rem, 5vw, 2.125rem); line-height: 1.2; letter-spacing: -.015em; text-wrap: balance; }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.25rem; line-height: 1.3; }
h3 { margin: 0; font-size: 1.0625rem; line-height: 1.35; }
p { margin: .5rem 0; }
.about { margin: 0; color: var(--muted); font-size: .875rem; display: flex; flex-wrap: wrap; gap: .125rem 1.25rem; }
.about div, .facts div { display: flex; gap: .375rem; min-width: 0; }
dt { color: var(--muted); overflow-wrap: normal; flex: none; }
dd { margin: 0; min-width: 0; }
.about dd { color: var(--ink); }

.totals { margin: 1.25rem 0 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1px; background: var(--rule);
  border: 1px solid var(--rule); border-radius: .625rem; overflow: hidden; }
.totals div { background: var(--paper); padding: .75rem 1rem; display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.totals dt { font-size: .8125rem; flex: initial; }
.totals dd { font-size: 1.375rem; font-weight: 650; line-height: 1.25; letter-spacing: -.01em; }

.card { background: var(--paper); border: 1px solid var(--rule); border-radius: .625rem; padding: 1rem 1.125rem; margin: 0 0 .875rem; }
.card > :last-child { margin-bottom: 0; }
.alert { border-left: .25rem solid var(--attention); }
.alert.failed { border-left-color: var(--failed); }
.well { color: var(--ok); font-weight: 600; }
.top { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: baseline; justify-content: space-between; }
.badge { font-size: .8125rem; font-weight: 650; white-space: nowrap; }
.badge.failed { color: var(--failed); }
.badge.failed::before { content: "\\2715\\00A0"; }
.sentence, .aside { margin: .125rem 0 0; color: var(--muted); font-size: .9375rem; }
.aside { font-size: .875rem; }
.next { margin: .75rem 0 0; }
.next b { font-weight: 650; }
pre { margin: .375rem 0 .75rem; padding: .625rem .75rem; background: var(--code); border-radius: .375rem; white-space: pre-wrap; overflow-wrap: anywhere;
  font: .8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
ul { margin: .5rem 0; padding-left: 1.25rem; }
li + li { margin-top: .25rem; }

.ends + svg { display: block; }
.ends { margin: .75rem 0 .125rem; display: flex; flex-wrap: wrap; gap: 0 1rem; font-size: .875rem; line-height: 1.35; }
.ends b { font-weight: 650; }
.ends > span { margin-left: auto; text-align: right; }
.ends .gone { color: var(--goes); margin-right: .5rem; } .ends .stay { color: var(--stays); }
.w { fill: var(--page); stroke: var(--goes); stroke-width: 1px; stroke-dasharray: 3 2; }
.g { fill: var(--goes); } .s { fill: var(--stays); }
.legend { margin: .75rem 0 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: .125rem 1rem; font-size: .8125rem; color: var(--muted); }
.legend li { margin: 0; display: flex; align-items: center; gap: .375rem; white-space: nowrap; }
.legend svg { flex: none; display: block; }
.facts { margin: .75rem 0 0; display: flex; flex-wrap: wrap; gap: .125rem 1.25rem; font-size: .875rem; }

footer { padding-top: 1.5rem; padding-bottom: 3rem; color: var(--muted); font-size: .8125rem; }

@media (max-width: 34rem) {
  header { padding-top: 1.25rem; }
  .card { padding: .875rem .875rem; }
  .totals { grid-template-columns: repeat(2, 1fr); }
  .totals div:last-child:nth-child(odd) { grid-column: 1 / -1; }
  .totals div { padding: .625rem .75rem; }
  .totals dd { font-size: 1.125rem; }
}
`;

export const style = sheet.trim();

/** The hash of exactly the text between the tags. */
export const styleHash = `sha256-${createHash('sha256').update(style).digest('base64')}`;
