import { Annotations, App, CfnWaitConditionHandle, Stack, Validations } from 'aws-cdk-lib';
import { SettingsError } from '../lambda/settings/settings.ts';
import { RetentionStack } from './retention-stack.ts';
import { readStageFile, stageMissing } from './stage-file.ts';

const app = new App();
const name = app.node.tryGetContext('stage');
try {
  if (name === undefined) {
    // `cdk bootstrap` needs an app with a stack, but no stage; the CDK refuses to show or deploy a stack with an error,
    // and would complain of one without a resource, too.
    const stack = new Stack(app, 'datahub-retention-STAGE');
    new CfnWaitConditionHandle(stack, 'Nothing');
    Annotations.of(stack).addError(stageMissing());
  } else {
    const stage = readStageFile(name);
    new RetentionStack(app, `datahub-retention-${stage.settings.stage}`, { stage });
    // Imported only now, because it loads all of CDK: a mistake in the stage file is reported before that.
    const { AwsSolutionsChecks } = await import('cdk-nag');
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { verbose: true }));
  }
} catch (error) {
  // A stack trace would bury the message under kilobytes of minified library code.
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exit(1);
}
