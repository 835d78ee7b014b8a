import { type OutputFile, WriteError, writeOutputFile } from '../files/output-file.ts';
import type { Output } from '../output/output.ts';
import type { Page } from './model.ts';
import { renderPage } from './render.ts';

/** Who asks for a page, and what must not stand in it. */
export interface Drawing {
  file: OutputFile;
  output: Pick<Output, 'problem' | 'written'>;
  /** Takes secrets out of a text. */
  clean(text: string): string;
}

/**
 * Makes a page and writes it. A picture is never a reason for a run to end otherwise: whatever goes wrong here is told, and
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
