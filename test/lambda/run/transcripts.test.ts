import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { deployments } from '../../support/deployment.ts';
import { player } from './transcripts/commands.ts';
import { replay } from './transcripts/script.ts';

/**
 * Histories of one index, told line by line: what was asked of the server, what the ledger said at each write, what was
 * reported. `npx vitest run test/lambda/run/transcripts.test.ts -u` rewrites their outputs; read the diff.
 */

const started = deployments();
const folder = new URL('./transcripts/histories/', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.txt'));

test.each(files)('%s', async (file) => {
  const text = readFileSync(new URL(file, folder), 'utf8');
  await expect(await replay(text, player(started))).toMatchFileSnapshot(`transcripts/histories/${file}`);
});
