import { AspectPriority, Aspects, CfnDeletionPolicy, CfnResource } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Settings } from '../../lambda/settings/settings.ts';

/**
 * What a stage writes while it enforces outlives its stack: the ledger says what may still be running on the server,
 * and the logs who deleted what. A mode that is known only at deployment may be `enforce`.
 * @param resource its CloudFormation resource is the default child
 * @param replacement `always` if also a preview's must not go when CloudFormation replaces it
 */
export function keepIfEnforcing(resource: Construct, { mode }: Settings, replacement?: 'always'): void {
  const { DELETE, RETAIN } = CfnDeletionPolicy;
  const made = resource.node.defaultChild;
  if (!(made instanceof CfnResource)) return;
  const visit = () => {
    made.cfnOptions.deletionPolicy = mode === 'preview' ? DELETE : RETAIN;
    made.cfnOptions.updateReplacePolicy = mode === 'preview' && replacement === undefined ? DELETE : RETAIN;
  };
  // After the aspects of an app, such as one that lets everything go with its stack.
  Aspects.of(made).add({ visit }, { priority: AspectPriority.READONLY });
}
