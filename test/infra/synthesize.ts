import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type Environment } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { RetentionStack } from '../../infra/retention-stack.ts';
import { readStageText, type StageInput } from '../../lambda/settings/settings.ts';

const cdkJson = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));

export const settingsInput = (fields: Partial<StageInput> = {}): StageInput => ({
  gmsUrl: 'https://datahub.example.com/api/gms',
  policies: [{ entityType: 'dataset', aspect: 'operation', retentionDays: 90 }],
  ...fields,
});

export interface Synthesized {
  stack: RetentionStack;
  template: { Resources: Record<string, Resource>; Outputs: Record<string, { Value: unknown }> };
  resources(type: string): [id: string, resource: Resource][];
}

export interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: CloudFormation properties are whatever CloudFormation takes
  Properties: any;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

interface Options {
  stage?: string;
  env?: Environment;
}

const known = new Map<string, Synthesized>();

/** The template of a stage, as `cdk synth` generates it; files that ask for the same one share it. */
export function synthesize(fields: Partial<StageInput> = {}, options: Options = {}): Synthesized {
  const key = JSON.stringify([fields, options]);
  const made = known.get(key) ?? synthesizeAnew(fields, options);
  known.set(key, made);
  return made;
}

export function synthesizeAnew(fields: Partial<StageInput>, { stage = 'prod', env }: Options): Synthesized {
  const outdir = mkdtempSync(join(tmpdir(), 'synth-'));
  try {
    // No tree, stack traces or copies of the functions' code: they take a third of a synthesis's time.
    const app = new App({
      outdir,
      context: { ...cdkJson.context, 'aws:cdk:disable-asset-staging': true },
      builtinCloudFormationValidation: false,
      treeMetadata: false,
      stackTraces: false,
    });
    const stack = new RetentionStack(app, `datahub-retention-${stage}`, {
      stage: readStageText(stage, JSON.stringify(settingsInput(fields))),
      ...(env && { env }),
    });
    const template = Template.fromStack(stack).toJSON() as Synthesized['template'];
    return {
      stack,
      template,
      resources: (type) => Object.entries(template.Resources).filter(([, resource]) => resource.Type === type),
    };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}
