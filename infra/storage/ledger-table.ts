import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';

/**
 * The in-flight ledger: one small record per search index. The partition key is the stage, because one server belongs to one stage. No time to live: a record that expired would allow a second truncation.
 * It goes with the stack, as everything does; what is running on the server then is found by the counts of a later deployment.
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
