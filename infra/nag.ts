import { type Stack, Validations } from 'aws-cdk-lib';

/** Exceptions from cdk-nag's rules: the end of the construct's path, the rule, and the reason. */
const acknowledged: [path: RegExp, id: string, reason: string][] = [
  [
    /\/Workflow\/(Plan|Truncate|Poll)\/Role$/,
    'AwsSolutions-IAM5[Resource::*]',
    'The describe actions have no resource level, and Lambda checks the others before there is an interface to name.',
  ],
  [
    /\/Workflow\/(Role|StateMachine)$/,
    'AwsSolutions-IAM5[Resource::*]',
    'X-Ray and the log delivery of CloudWatch Logs have no resource level.',
  ],
];

/** For our own app only: an app that uses the construct has its own rules and its own reasons for exceptions. */
export function acknowledgeFindings(stack: Stack): void {
  for (const construct of stack.node.findAll()) {
    for (const [path, id, reason] of acknowledged) {
      if (path.test(construct.node.path)) Validations.of(construct).acknowledge({ id, reason });
    }
  }
}
