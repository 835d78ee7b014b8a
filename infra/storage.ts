import { Stack } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { ParameterTier, StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { dottedName } from '../lambda/policy/aspects.ts';
import type { Settings } from '../lambda/settings/settings.ts';
import { keepIfEnforcing } from './props/removal.ts';
import type { Resources } from './props/resources.ts';
import { jobName } from './workflow/names.ts';

/**
 * The ledger: one small record per search index. The partition key is the stage, because one server belongs to one
 * stage. No time to live: an expired record would allow a second truncation. Its name follows from the stage's, so that
 * no second, empty table can take its place; while the stage enforces it cannot be deleted, and outlives its stack
 * (docs/adr/0008).
 */
export class LedgerTable extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string, { settings, resources }: { settings: Settings; resources: Resources }) {
    super(scope, id);
    const { encryptionKey } = resources;
    this.table = new Table(this, 'Table', {
      tableName: jobName(settings.stage),
      // A mode that is known only at deployment may be `enforce`.
      deletionProtection: settings.mode !== 'preview',
      ...(encryptionKey && { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey }),
      partitionKey: { name: 'ledger', type: AttributeType.STRING },
      sortKey: { name: 'index', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    });
    keepIfEnforcing(this.table, settings, 'always');
  }
}

/** The stage file's policies in Parameter Store, one parameter each: an operator may add others next to them. */
export class PolicyParameters extends Construct {
  constructor(scope: Construct, id: string, { settings }: { settings: Settings }) {
    super(scope, id);
    for (const [at, { written, names }] of settings.policies.entries()) {
      const name = names ? dottedName(names) : `${written['entityType']}.${written['aspect']}`;
      new StringParameter(this, names ? name : `Policy ${at + 1}`, {
        parameterName: `${settings.parameterPrefix}/policies/${name}`,
        // The name is a path; the CDK cannot always see that, and asks.
        simpleName: false,
        description: 'Retention policy; change it in the stage file',
        // A number that is a token would be printed as another number by JSON.stringify.
        stringValue: Stack.of(this).toJsonString(written),
        tier: ParameterTier.STANDARD,
      });
    }
  }
}
