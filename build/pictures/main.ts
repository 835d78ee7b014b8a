import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type DemoArguments, parseArguments, type SurveyArguments } from '../../cli/command-line/arguments.ts';
import { npmStart } from '../../cli/command-line/program.ts';
import { execute } from '../../cli/execute.ts';
import { onScreen } from '../../cli/screen/on-screen.ts';
import { screenOn } from '../../cli/screen/screen.ts';
import { startOperationsService } from '../../test/operations-service/server.ts';
import { findChromium, startChromium } from './chromium.ts';
import { terminal, themes } from './terminal.ts';

/**
 * `npm run pictures`: the README's pictures, from what the programs write and draw. The terminal's need nothing else; the
 * page's are screenshots in the installed Chromium, and are left unchanged if there is none.
 */

const folder = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const schemes = ['light', 'dark'] as const;
/** A limit for the sake of readers on a phone. */
const mostBytes = 300_000;

mkdirSync(folder, { recursive: true });
await picturesOfTerminal();
await picturesOfPage();

function keep(name: string, content: string | Buffer): void {
  const path = join(folder, name);
  writeFileSync(path, content);
  const { size } = statSync(path);
  console.log(`docs/pictures/${name}  ${Math.round(size / 1000)} kB`);
  if (size > mostBytes) throw new Error(`${name} is larger than ${mostBytes / 1000} kB: show less of it.`);
}

/** Taken at the first moment at which most of the run is done and the largest index is in progress. */
async function picturesOfTerminal(): Promise<void> {
  const screen = terminal(100);
  screen.write('$ npm start\n');
  let taken = false;
  const stream = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        screen.write(String(chunk));
        if (!taken && /[4-7]\d %.*dataset\.datasetUsageStatistics/.test(screen.text())) {
          taken = true;
          const title = 'npm start in a terminal: the plan of a run, truncations proven, and one under way';
          for (const scheme of schemes) keep(`terminal-${scheme}.svg`, screen.svg(themes[scheme], title));
        }
        done();
      },
    }),
    { isTTY: true, columns: 100 },
  ) as unknown as NodeJS.WriteStream;
  const output = onScreen(screenOn(stream, { TERM: 'xterm' }));
  await execute(parseArguments([], {}) as DemoArguments, output, {}, npmStart);
  if (!taken) throw new Error('The run was over before a picture could be taken.');
}

async function picturesOfPage(): Promise<void> {
  const program = findChromium();
  if (program === undefined) {
    console.log('The pictures of the page stay as they are: no Chromium here (Debian: apt-get install chromium).');
    return;
  }
  const own = mkdtempSync(join(tmpdir(), 'retention-pictures-'));
  const service = await startOperationsService();
  const browser = await startChromium(program);
  try {
    const file = join(own, 'survey.html');
    const env = { DATAHUB_GMS_TOKEN: service.token, XDG_STATE_HOME: own };
    const asked = parseArguments(['survey', '--gms-url', service.url, '--html', file], env) as SurveyArguments;
    await execute(asked, onScreen({ width: 100, write: () => {} }), env, npmStart);
    for (const scheme of schemes) {
      const page = await browser.open(file, { width: 1000, height: 1200, scheme, scale: 1.5 });
      // Three indices are enough to see what a page shows for an index.
      const clip = await page.evaluate<{ y: number; height: number }>(
        `(() => {
          const top = document.getElementById('indices').getBoundingClientRect().top - 16;
          const last = document.getElementById('index-3').closest('section').getBoundingClientRect().bottom;
          return { y: top, height: last - top + 8 };
        })()`,
      );
      keep(`survey-${scheme}.png`, await page.screenshot({ x: 0, width: 1000, ...clip }));
      await page.close();
    }
  } finally {
    await browser.close();
    await service.close();
    rmSync(own, { recursive: true, force: true });
  }
}
