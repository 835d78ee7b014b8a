import { App, Validations } from 'aws-cdk-lib';
import { RetentionStack } from './retention-stack.ts';
import { SettingsError } from './stage/settings.ts';
import { readStageFile } from './stage/stage-file.ts';

const app = new App();
try {
  const stage = readStageFile(app.node.tryGetContext('stage'));
  new RetentionStack(app, `datahub-retention-${stage.stage}`, { stage });
  // It loads all of CDK; a mistake in the stage file is reported before that.
  const { AwsSolutionsChecks } = await import('cdk-nag');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { verbose: true }));
} catch (error) {
  // A stack trace would bury the message under kilobytes of minified library code.
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exit(1);
}
