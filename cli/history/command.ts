import { type Night, nightsKeptDays } from '../../lambda/memory/night.ts';
import { searchIndexOfName } from '../../lambda/policy/aspects.ts';
import { nearest } from '../../lambda/policy/nearest.ts';
import type { HistoryArguments } from '../command-line/arguments.ts';
import { UsageError } from '../command-line/usage-error.ts';
import { defaultLedgerPath, nightsPath } from '../files/ledger-path.ts';
import { checkOutputFile, WriteError, writeOutputFile } from '../files/output-file.ts';
import { historyPage } from '../pages/history-page.ts';
import { drawPage } from '../pages/write.ts';
import { wrap } from '../screen/text.ts';
import { type Memory, readMemory } from './memory.ts';
import { nameOfIndex } from './names.ts';
import { nothingRemembered, renderHistory, renderIndex } from './text.ts';

/**
 * `history`: what earlier nights saw, from the local ledger or a deployed stage. Only reads, and does not contact
 * DataHub.
 */

export interface Screen {
  width: number;
  write(text: string): void;
}

/**
 * @returns the exit status: 1 if a requested file could not be written
 * @throws UsageError, DeployedMemoryError
 */
export async function history(asked: HistoryArguments, screen: Screen, env: NodeJS.ProcessEnv): Promise<number> {
  const { json, html } = filesOf(asked);
  const now = Date.now();
  const { place, memory, isSample } = await read(asked, env, now);
  const say = (lines: readonly string[]) => screen.write(`${lines.join('\n')}\n`);
  const where = [`Memory  ${place}`, ...(isSample ? wrap(sampleData, screen.width) : []), ''];
  if (memory.size === 0) say(wrap(nothingRemembered(place), screen.width));
  else if (asked.index === undefined) say([...where, ...renderHistory(memory, screen.width)]);
  else for (const [index, nights] of memory) say([...where, ...renderIndex(index, nights, screen.width)]);

  let failed = false;
  const written = (what: string, path: string) => {
    if (path !== '-') say(['', ...wrap(`The ${what} is in ${path}.`, screen.width)]);
  };
  const problem = (text: string) => {
    failed = true;
    say(['', ...wrap(text, screen.width)]);
  };
  if (json) {
    try {
      writeOutputFile(json, jsonOf(place, memory));
      written('history', json.path);
    } catch (error) {
      if (!(error instanceof WriteError)) throw error;
      problem(error.message);
    }
  }
  if (html && memory.size === 0) say(['', `There is no page to draw: ${html.path} was not written.`]);
  else if (html) {
    const output = { written, problem };
    await drawPage(() => historyPage({ memory, place, now }), { file: html, output, clean: (text) => text });
  }
  return failed ? 1 : 0;
}

function filesOf({ json: wanted, html: drawn, ledgerPath }: HistoryArguments) {
  const json = wanted && ({ ...wanted, holds: 'history' } as const);
  const html = drawn && ({ ...drawn, holds: 'page' } as const);
  const ledger = [
    ['--ledger', ledgerPath],
    ['--ledger', ledgerPath && nightsPath(ledgerPath)],
  ] as const;
  if (json) checkOutputFile(json, ledger);
  if (html) checkOutputFile(html, [...ledger, ['--json', json?.path]]);
  return { json, html };
}

async function read(
  { stage, ledgerPath, index }: HistoryArguments,
  env: NodeJS.ProcessEnv,
  now: number,
): Promise<{ place: string; memory: Memory; isSample?: boolean }> {
  const wanted = index === undefined ? undefined : searchIndexOfName(index);
  if (stage !== undefined) {
    // The AWS client takes longer to load than everything else combined.
    const { readDeployedMemory } = await import('./deployed.ts');
    const found = await readDeployedMemory(stage, wanted);
    if (wanted === undefined || found.memory.size > 0) return found;
    throw new UsageError(
      `No night of ${index} is remembered in ${found.place}: history --stage ${stage} without an index lists those that are.`,
    );
  }
  const found = local(ledgerPath, env, now);
  const { place, memory } = found;
  if (wanted === undefined || memory.size === 0) return found;
  const nights = memory.get(wanted);
  if (nights) return { ...found, memory: new Map([[wanted, nights]]) };
  const names = [...memory.keys()].map(nameOfIndex);
  const meant = nearest(index!, names);
  throw new UsageError(
    `No night of ${index} is remembered in ${place}; ${meant ? `did you mean ${meant}?` : `there are ${names.join(', ')}.`}`,
  );
}

const sampleData = 'These are nights of sample data; no run has enforced anything for a server yet.';

/** The memory next to a ledger; by default, while the default ledger's memory is empty, that of sample data. */
function local(ledgerPath: string | undefined, env: NodeJS.ProcessEnv, now: number) {
  const remembered = (ledger: string) => {
    const place = nightsPath(ledger);
    return { place, memory: readMemory(place, now) ?? new Map<string, readonly Night[]>() };
  };
  const own = remembered(ledgerPath ?? defaultLedgerPath(env, false));
  if (ledgerPath !== undefined || own.memory.size > 0) return own;
  const sample = remembered(defaultLedgerPath(env, true));
  return sample.memory.size > 0 ? { ...sample, isSample: true } : own;
}

const jsonOf = (place: string, memory: Memory): string => {
  const indices = [...memory].map(([index, nights]) => ({
    index,
    name: nameOfIndex(index),
    nights: nights.map(({ index: _, ...night }) => night),
  }));
  return `${JSON.stringify({ version: 1, memory: place, keptDays: nightsKeptDays, indices }, null, 2)}\n`;
};
