import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';

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
