import type { Check } from '../../lambda/facts/check.ts';
import type { Header, Output } from '../output/output.ts';
import type { Pending } from '../run/observed.ts';
import { renderSurvey } from '../survey/page.ts';
import { renderChecks, renderSizes } from '../survey/render.ts';
import { paintFor } from './colour.ts';
import { renderMessage } from './message.ts';
import { createProgress } from './progress.ts';
import type { Screen } from './screen.ts';
import { createStatus } from './status.ts';
import { wrap } from './text.ts';
import { type Counted, waitingForms } from './waiting.ts';

/** What people see of a run or a survey. */
export function onScreen(given: Screen): Output {
  const hidden: Array<(text: string) => string> = [];
  const status = createStatus({
    ...given,
    get width() {
      return given.width;
    },
    write: (text) => given.write(hidden.reduce((rest, hide) => hide(rest), text)),
  });
  const { screen } = status;
  const paint = paintFor(screen);
  const progress = createProgress(screen);
  let pending: Pending | undefined;
  let counted: Counted | undefined;
  /** Until the first request. */
  let isAsking = false;
  const shown = new Set<string>();
  let host = '';
  let inHeader = false;
  let reported = false;
  /** Lines that are shown above the plan. */
  const lines: string[] = [];

  const print = (lines: readonly string[]) => {
    if (inHeader) screen.write('\n');
    inHeader = false;
    if (lines.length > 0) screen.write(`${lines.join('\n')}\n`);
  };
  const paragraph = (text: string, lead = '', indent?: string) => wrap(text, screen.width, lead, indent);
  const forms = () =>
    // The counts are about dry runs, so they are not shown with other requests.
    waitingForms(pending, pending && pending.operation !== 'dry-run' ? undefined : counted, Date.now());
  const wait = () => {
    if (progress.hasBars()) status.waitFor(undefined);
    else status.waitFor(isAsking ? forms : () => [`Looking up ${host}`]);
  };

  return {
    neverShow: (hide) => {
      hidden.push(hide);
    },
    header(header) {
      for (const line of headerLines(header)) screen.write(`${line}\n`);
      inHeader = true;
      host = new URL(header.server).host;
      wait();
    },
    ledger(path) {
      // By the time a slow server says whether it is a sample, checks are already shown below the header.
      if (inHeader) screen.write(`Ledger  ${path}\n`);
      else lines.push('', `Ledger  ${path}`);
    },
    note(text) {
      // Remarks about the request belong to the header; later ones are paragraphs. A command is indented, and stays whole.
      if (inHeader) screen.write(`${paragraph(text, 'Note    ').join('\n')}\n`);
      else print(['', ...text.split('\n').flatMap((line) => (/^\s/.test(line) ? [line] : paragraph(line)))]);
    },
    preflight(checks) {
      const fresh = checks.filter((check) => !shown.has(shownAs(check)));
      const title = shown.size === 0 && checks.length > 0 ? ['Preflight:'] : [];
      for (const check of fresh) shown.add(shownAs(check));
      print([...title, ...renderChecks(fresh, screen.width, paint)]);
    },
    asking(open) {
      pending = open;
      isAsking = true;
      wait();
    },
    counted(done, of) {
      counted = { done, of, since: counted?.since ?? Date.now() };
      wait();
    },
    state(step, state) {
      if (step === 'plan') {
        counted = undefined;
        print([...lines, ...(shown.size === 0 ? [] : [''])]);
      }
      status.waitFor(undefined);
      progress.onState(step, state);
      if (state.next !== 'report') wait();
    },
    problem(text) {
      if (reported) return print(['', ...paragraph(text)]);
      print([]);
      for (const line of paragraph(text, '  ', '    ')) progress.line(line);
    },
    report(_report, message) {
      reported = true;
      progress.stop();
      status.waitFor(undefined);
      print(['', ...renderMessage(message, screen.width)]);
    },
    posted(posted) {
      print([
        '',
        ...paragraph(posted.kind === 'posted' ? `The message was posted to ${posted.host}.` : posted.problem),
      ]);
    },
    sizes: (sizes) => print(['', ...renderSizes(sizes)]),
    survey(survey, now) {
      status.waitFor(undefined);
      print(['', ...renderSurvey(survey, screen.width, now)]);
    },
    written(what, path) {
      if (path !== '-')
        print(['', ...paragraph(`The ${what === 'policies' ? 'policies are' : `${what} is`} in ${path}.`)]);
    },
    stopped: () => {},
    close() {
      progress.stop();
      status.stop();
    },
  };
}

/** Later news about something already shown as failed or OK appears in the report. */
const shownAs = ({ name, state }: Check): string => `${name} ${state}`;

function headerLines({ server, from, mode, embedded, fast, ledger }: Header): string[] {
  const access = from ? [`Access  address from ${from.url}, token from ${from.token}`] : [];
  if (mode === 'survey') return [`Survey of ${server}, read-only: nothing is changed.`, ...access];
  const modes: Record<typeof mode, string> = {
    clear: 'clear: counts rows and changes the ledger; truncates nothing',
    preview: 'PREVIEW: nothing is changed; the verb enforce truncates for real',
    enforce: embedded ? 'enforce: really truncating, but sample data only' : 'ENFORCE: truncates for real',
  };
  return [
    `Server  ${server}${embedded ? ' (the embedded operations service)' : ''}`,
    ...access,
    `Mode    ${modes[mode]}${fast ? '; waits are cut short' : ''}`,
    ...(ledger === undefined ? [] : [`Ledger  ${ledger}`]),
  ];
}
