import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { nightsTableName } from '../stage/table-names.ts';

/**
 * What each night saw of each index, for estimates and growth; no safety rule reads it. A table of its own, because its
 * items expire and those of the ledger never may. It has a fixed name, by which `history --stage` finds it: a change
 * that replaces the table needs a new name.
 */
export class NightsTable extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string, { stage }: { stage: string }) {
    super(scope, id);
    this.table = new Table(this, 'Table', {
      tableName: nightsTableName(stage),
      partitionKey: { name: 'index', type: AttributeType.STRING },
      sortKey: { name: 'night', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: 'expiresAt',
      // Lost data builds up again within a few nights, so backups are not worth their cost.
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }
}
