import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type Environment } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { RetentionStack } from '../../infra/retention-stack.ts';
import { readStageText, type StageInput } from '../../infra/stage/settings.ts';

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

/** The template of a stage, as `cdk synth` generates it. */
export function synthesize(
  fields: Partial<StageInput> = {},
  { stage = 'prod', env }: { stage?: string; env?: Environment } = {},
): Synthesized {
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
