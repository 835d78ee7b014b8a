import { Annotations, type Stack } from 'aws-cdk-lib';
import { parseSettings, type StageInput } from './stage/settings.ts';
import { warningsOf } from './stage/warnings.ts';

/** Shows a stage's warnings when it is synthesised. */
export function warn(stack: Stack, { stage, ...given }: StageInput & { stage: string }): void {
  for (const { id, text } of warningsOf(parseSettings(stage, given))) {
    Annotations.of(stack).addWarningV2(`datahub-retention:${id}`, text);
  }
}
