import { escaped } from '../../gms/text.ts';
import type { AwsAudience, Guide } from './audience.ts';
import { dashboardSections, inRepository, type Section } from './runbook.ts';
import { shellWord } from './words.ts';

export function awsGuide({
  region,
  stateMachineArn,
  dashboardUrl,
  parameterPrefix,
  tokenParameter,
  tokenKeyArn,
}: AwsAudience): Guide {
  const inRegion = region ? ` --region ${shellWord(region)}` : '';
  const put = (place: string | undefined, type: string, value: string) =>
    place &&
    `aws ssm put-parameter --name ${shellWord(place)} --type ${type} --overwrite --value ${shellWord(value)}${inRegion}`;
  const below = (name: string) => parameterPrefix && `${parameterPrefix}/${name}`;
  return {
    runByHand(input) {
      const json = pasteable(input);
      return stateMachineArn === undefined
        ? json
        : `aws stepfunctions start-execution --state-machine-arn ${shellWord(stateMachineArn)}${inRegion} --input '${json}'`;
    },
    storeToken: () =>
      put(
        tokenParameter ?? below('token'),
        `SecureString${tokenKeyArn ? ` --key-id ${shellWord(tokenKeyArn)}` : ''}`,
        'file://token.txt',
      ),
    setPaused: (paused) => put(below('paused'), 'String', `${paused}`),
    // The dashboard has no other section.
    runbook: (section) =>
      dashboardUrl && (dashboardSections as readonly Section[]).includes(section)
        ? { url: dashboardUrl }
        : inRepository(section),
    policies: `in the stage file and deploy, or in its parameter${parameterPrefix ? ` below ${parameterPrefix}/policies` : ''}`,
    otherLedger: 'its table was replaced: pause the job, and restore the table from its backup',
    enforce: 'set the mode to enforce',
    restoreAccess: 'if access is denied because a role was changed, deploy the stage with --revert-drift',
  };
}

/** JSON that stays what it is between single quotes in a shell, and in a code block of Slack. */
const pasteable = (value: unknown): string => JSON.stringify(value).replace(/[^\x20-\x7e]|['<>&`]/g, escaped);
