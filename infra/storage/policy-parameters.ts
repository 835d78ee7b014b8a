import { ParameterTier, StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { dottedName } from '../../lambda/policy/aspects.ts';
import type { Settings } from '../stage/settings.ts';

/** The stage file's policies in Parameter Store, one parameter each: an operator may add others next to them. */
export class PolicyParameters extends Construct {
  constructor(scope: Construct, id: string, { settings }: { settings: Settings }) {
    super(scope, id);
    for (const { written, policy } of settings.policies) {
      const name = dottedName(policy);
      new StringParameter(this, name, {
        parameterName: `${settings.parameterPrefix}/policies/${name}`,
        description: 'Retention policy; change it in the stage file',
        stringValue: JSON.stringify(written),
        tier: ParameterTier.STANDARD,
      });
    }
  }
}
