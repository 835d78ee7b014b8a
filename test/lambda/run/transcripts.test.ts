import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { deployments } from '../../support/deployment.ts';
import { player } from './transcripts/commands.ts';
import { replay } from './transcripts/script.ts';

/** Histories of an index, line by line: transcripts/README.md says how to read and write one. */

const started = deployments();
const folder = new URL('./transcripts/histories/', import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.txt'));

test.each(files)('%s', async (file) => {
  const text = readFileSync(new URL(file, folder), 'utf8');
  await expect(await replay(text, player(started))).toMatchFileSnapshot(`transcripts/histories/${file}`);
});
