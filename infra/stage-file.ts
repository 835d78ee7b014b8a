import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nearest } from '../lambda/policy/nearest.ts';
import { readStageText, SettingsError, type Stage } from '../lambda/settings/settings.ts';

const folder = fileURLToPath(new URL('./stages/', import.meta.url));

const stageNames = (): string[] =>
  readdirSync(folder).flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -5)] : []));

/** What a command without a stage prints. */
export const stageMissing = (): string => `Name a stage with -c stage=<name>; there are: ${stageNames().join(', ')}.`;

/**
 * Reads `infra/stages/<stage>.json`.
 * @param stage the value of `cdk -c stage=...`
 * @throws SettingsError, one sentence for each problem
 */
export function readStageFile(stage: unknown): Stage {
  if (typeof stage !== 'string' || stage === '') throw new SettingsError([stageMissing()]);
  const path = `${folder}${stage}.json`;
  if (!/^[\w-]+$/.test(stage) || !existsSync(path)) {
    const meant = nearest(basename(stage, '.json'), stageNames());
    const hint = meant === undefined ? 'copy infra/stages/example.json to begin one' : `did you mean ${meant}?`;
    throw new SettingsError([`There is no stage file infra/stages/${stage}.json: ${hint}`]);
  }
  try {
    return readStageText(stage, readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof SettingsError) throw new SettingsError([`infra/stages/${stage}.json: ${error.message}`]);
    throw error;
  }
}
