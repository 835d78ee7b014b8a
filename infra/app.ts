import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { bundleFunctions } from './function-code.ts';
import { RetentionStack } from './retention-stack.ts';
import { SettingsError } from './stage/settings.ts';
import { readStageFile } from './stage/stage-file.ts';

const app = new App();
try {
  const settings = readStageFile(app.node.tryGetContext('stage'));
  new RetentionStack(app, `datahub-retention-${settings.stage}`, { settings, code: bundleFunctions() });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { verbose: true }));
} catch (error) {
  // A stack trace would bury the sentence below kilobytes of minified library code.
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exit(1);
}
