import { Aws, CfnMapping, Lazy, type Stack, Token } from 'aws-cdk-lib';
import type { CfnDashboard, Dashboard } from 'aws-cdk-lib/aws-cloudwatch';

/** AWS's consoles by partition; of others, as of a region that CDK does not know, the first is the best guess. */
const consoleDomains = {
  aws: 'console.aws.amazon.com',
  'aws-cn': 'console.amazonaws.cn',
  'aws-us-gov': 'console.amazonaws-us-gov.com',
} as const;

/**
 * The address of a stage's dashboard, for alarms and, as a variable of Report, for messages. Its name is read at the end
 * of synth, after an app's Aspects may have changed it.
 */
export const dashboardUrl = (stack: Stack, dashboard: () => Dashboard | undefined): string => {
  const { region } = stack;
  const name = Lazy.string({
    produce: () => (dashboard()?.node.defaultChild as CfnDashboard | undefined)?.dashboardName,
  });
  return `https://${region}.${consoleDomain(stack)}/cloudwatch/home?region=${region}#dashboards/dashboard/${name}`;
};

/** The console of the stack's partition; a stack without an environment learns at deployment which one that is. */
function consoleDomain(stack: Stack): string {
  const { partition } = stack;
  if (!Token.isUnresolved(partition))
    return consoleDomains[partition as keyof typeof consoleDomains] ?? consoleDomains.aws;
  const id = 'ConsoleDomains';
  const mapping = Object.fromEntries(Object.entries(consoleDomains).map(([name, domain]) => [name, { domain }]));
  const found = stack.node.tryFindChild(id) ?? new CfnMapping(stack, id, { mapping });
  return (found as CfnMapping).findInMap(Aws.PARTITION, 'domain');
}
