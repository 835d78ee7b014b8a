import { type OutputFile, WriteError, writeOutputFile } from '../files/output-file.ts';
import type { Output } from '../output/output.ts';
import type { Page } from './model.ts';
import { renderPage } from './render.ts';

/** Where a page goes, and what it must not contain. */
export interface Drawing {
  file: OutputFile;
  output: Pick<Output, 'problem' | 'written'>;
  /** Removes secrets from a text. */
  clean(text: string): string;
}

/**
 * Builds a page and writes it. A picture never changes how a run ends: whatever goes wrong here is reported, and
 * nothing is thrown.
 */
export async function drawPage(make: () => Page | Promise<Page>, { file, output, clean }: Drawing): Promise<void> {
  try {
    writeOutputFile(file, renderPage(cleaned(await make(), clean)));
    output.written('page', file.path);
  } catch (error) {
    const why = clean(error instanceof Error ? error.message : String(error));
    output.problem(error instanceof WriteError ? why : `--html ${file.path} was not written: ${why}`);
  }
}

/** The same data with every text cleaned. */
function cleaned<Value>(value: Value, clean: (text: string) => string): Value {
  if (typeof value === 'string') return clean(value) as Value;
  if (Array.isArray(value)) return value.map((item) => cleaned(item, clean)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cleaned(item, clean)])) as Value;
}
