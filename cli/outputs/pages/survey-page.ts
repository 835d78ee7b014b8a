import { dottedName } from '../../../lambda/policy/aspects.ts';
import { counted, exact, moment, rows, size } from '../../../lambda/report/sentences/numbers.ts';
import { errorText } from '../../../lambda/report/sentences/server-errors.ts';
import { jobVersion } from '../../../version.ts';
import {
  ageOfOldest,
  type Findings,
  failuresByReason,
  policiesText,
  rowsOf,
  type Suggestion,
  type SurveyedIndex,
  share,
} from '../../events/findings.ts';
import { legend, rowsBar } from './bars.ts';
import { breakable, type Child, Html, html } from './html.ts';
import { style, styleHash } from './style.ts';

/**
 * What a survey found, as one HTML file: what needs attention, what to know, all indices side by side, each by
 * itself, and the suggested policies.
 * @param server its address
 * @param name what people call this DataHub
 * @param clean removes secrets from the page
 */
export function surveyPage(
  findings: Findings,
  server: string,
  name: string | undefined,
  clean: (text: string) => string,
): string {
  const { survey, damaged, hints, suggestions } = findings;
  const { indices } = survey;
  const alerts = alertsOf(findings);
  const sections: Array<[id: string, heading: string, content: Child]> = [
    alerts.length === 0
      ? ['checks', 'Checks', html`<p class="card well">${allWell}</p>`]
      : ['attention', 'Look at this first', alerts],
    ...(hints.length === 0
      ? []
      : [['to-know', 'What to know', html`<div class="card">${list(hints)}</div>`] satisfies [string, string, Child]]),
    ['all', 'All indices', html`<div class="card">${compared(findings)}${legend}</div>`],
    ['indices', 'Index by index', indices.map((index) => card(index, suggestionFor(index, suggestions), damaged))],
  ];
  if (suggestions.length > 0)
    sections.push(['policies', 'Suggested policies', html`<div class="card">${code(policiesText(suggestions))}</div>`]);
  const title = `DataHub retention: survey${name === undefined ? '' : ` of ${name}`}`;
  return clean(
    document(title, [
      html`<a class="skip" href="#main">Skip to the content</a>`,
      head(title, findings, server),
      html`<main id="main">${sections.map(
        ([id, heading, content]) =>
          html`<section aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>${content}</section>`,
      )}</main>`,
      html`<footer><p>Made by datahub-retention. This page has no scripts and loads nothing from the network.</p></footer>`,
    ]),
  );
}

const allWell = 'Address, token, privileges and clock are OK, and every index was counted.';

const list = (texts: readonly Child[]): Html => html`<ul>${texts.map((text) => html`<li>${text}</li>`)}</ul>`;
const code = (text: string): Html => html`<pre><code>${text}</code></pre>`;
const facts = (className: string, all: ReadonlyArray<readonly [term: string, text: string]>): Html =>
  html`<dl class="${className}">${all.map(([term, text]) => html`<div><dt>${term}</dt><dd>${text}</dd></div>`)}</dl>`;

const suggestionFor = (index: SurveyedIndex, suggestions: readonly Suggestion[]): Suggestion | undefined =>
  suggestions.find(({ policy }) => dottedName(policy) === dottedName(index));

function head(title: string, { survey, gain, now }: Findings, server: string): Html {
  const { indices } = survey;
  const mb = indices.reduce((sum, { sizeMb = 0 }) => sum + sizeMb, 0);
  const atMost = gain.isMost ? 'up to ' : '';
  return html`<header><p class="kicker">${title}</p><h1>${counted(indices.length, 'index', 'indices')}, ${rows(gain.of, 'exact')}${mb > 0 && `, ${size(mb)}`}</h1>${facts(
    'about',
    [
      ['Server', server],
      ['Surveyed', moment(now)],
      ['Read-only', 'nothing was changed'],
    ],
  )}${facts('totals', [
    ['rows', exact(gain.of)],
    [`to delete with the policies below (${share(gain.rows, gain.of)})`, `${atMost}${exact(gain.rows)}`],
    ...(gain.mb ? [['disk space freed, estimated', size(gain.mb)] as const] : []),
  ])}</header>`;
}

function alertsOf({ damage, damaged, checks, survey }: Findings): Html[] {
  const alert = (severity: string, title: Child, ...content: Child[]): Html =>
    html`<article class="card alert ${severity}"><h3>${title}</h3>${content}</article>`;
  const lost = damage.map(({ kind, text }) => (kind === 'command' ? code(text) : html`<p>${text}</p>`));
  return [
    ...(damage.length > 0 ? [alert('failed', `May have lost rows: ${damaged.join(', ')}`, lost)] : []),
    ...checks.flatMap(({ name, state, text, remedy }) => {
      if (state === 'ok') return [];
      const severity = state === 'failed' ? 'failed' : 'note';
      const next = remedy && html`<p class="next"><b>Next:</b> ${remedy}</p>`;
      return [alert(severity, `${name}: ${state}`, html`<p>${text}</p>`, next)];
    }),
    ...[...failuresByReason(survey)].map(([reason, names]) =>
      alert('failed', breakable(`Not counted: ${names.join(', ')}`), html`<p>${reason}</p>`),
    ),
    ...(survey.stopped
      ? [alert('failed', 'The counting stopped there', html`<p>${errorText(survey.stopped)}</p>`)]
      : []),
  ];
}

/** The indices side by side, the one with most rows first. */
function compared({ survey: { indices }, suggestions }: Findings): Html[] {
  const counted = indices
    .filter(({ counts }) => counts.kind === 'counted')
    .sort((one, other) => rowsOf(other) - rowsOf(one));
  const most = Math.max(1, ...counted.map(rowsOf));
  return counted.map((index) => rowsBar(index, suggestionFor(index, suggestions), most));
}

function card(index: SurveyedIndex, suggestion: Suggestion | undefined, damaged: readonly string[]): Html {
  const { counts, sizeMb, indexName } = index;
  const name = dottedName(index);
  const badge = counts.kind === 'failed' ? 'not counted' : damaged.includes(name) ? 'may have lost rows' : undefined;
  const sentence = index.protected
    ? 'The state of stateful ingestion, not history: it must not be truncated, and policies for it are refused.'
    : suggestion && `Suggested: ${suggestion.why}.`;
  return html`<section class="card"><div class="top"><h3>${breakable(name)}</h3>${badge && html`<span class="badge failed">${badge}</span>`}</div>${sentence && html`<p class="sentence">${sentence}</p>`}${staying(
    index,
    suggestion,
  )}${facts('facts', [
    ...(counts.kind === 'counted' ? [['Reaches back', ageOfOldest(counts)] as const] : []),
    ...(sizeMb === undefined ? [] : [['Size', size(sizeMb)] as const]),
    ...(indexName === undefined ? [] : [['Index', indexName] as const]),
  ])}</section>`;
}

/** Rows past the retention that a first run would leave, and why. */
function staying(index: SurveyedIndex, suggestion: Suggestion | undefined): Html | undefined {
  if (suggestion?.whyNotMore === undefined) return undefined;
  const left = suggestion.rowsPastRetention - suggestion.rowsToDelete;
  return html`<p class="aside"><b>${exact(left)}</b> past the retention (${share(left, rowsOf(index))}) would stay: ${suggestion.whyNotMore}.</p>`;
}

/**
 * A whole page in one file. Its content security policy allows only this style: no scripts, no requests, whatever a
 * name in it says.
 */
const contentPolicy = `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'`;

function document(title: string, body: Child): string {
  const page = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(contentPolicy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="datahub-retention ${jobVersion()}">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
${body}
</body>
</html>
`;
  return `<!doctype html>\n${page.text}`;
}
