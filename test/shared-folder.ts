import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder for what `support/once.ts` makes; it exists until all tests have run. */
    shared: string;
  }
}

export default function setup({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'shared-'));
  provide('shared', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
