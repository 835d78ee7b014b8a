import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { ParameterTier, StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { dottedName } from '../lambda/policy/aspects.ts';
import type { Settings } from './stage/settings.ts';

/**
 * The ledger: one small record per search index. The partition key is the stage, because one server belongs
 * to one stage. No time to live: an expired record would allow a second truncation. The table is deleted with the stack,
 * which therefore has termination protection while the stage enforces (docs/adr/0008).
 */
export class LedgerTable extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.table = new Table(this, 'Table', {
      partitionKey: { name: 'ledger', type: AttributeType.STRING },
      sortKey: { name: 'index', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }
}

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
