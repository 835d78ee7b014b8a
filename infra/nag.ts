import { type Stack, Validations } from 'aws-cdk-lib';

/** What is not as cdk-nag's rules want it, each with its reason, by the end of the construct's path. */
const acknowledged: [path: RegExp, id: string, reason: string][] = [
  [
    /\/Workflow\/(Plan|Truncate|Poll)\/Role$/,
    'AwsSolutions-IAM5[Resource::*]',
    'The describing actions have no resource level, and Lambda checks the others without naming an interface that does not exist yet.',
  ],
  [
    /\/Workflow\/(Role|StateMachine)$/,
    'AwsSolutions-IAM5[Resource::*]',
    'X-Ray and the log delivery of CloudWatch Logs have no resource level.',
  ],
  [/\/Nights\/Table$/, 'AwsSolutions-DDB3', 'What is lost there grows again within a few nights.'],
];

/** For our own app alone: an app that places the construct has rules, and words for exceptions, of its own. */
export function acknowledgeFindings(stack: Stack): void {
  for (const construct of stack.node.findAll()) {
    for (const [path, id, reason] of acknowledged) {
      if (path.test(construct.node.path)) Validations.of(construct).acknowledge({ id, reason });
    }
  }
}
