import { type Stack, Token } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';

/** What AWS's services need in the policy of a key. The page about privileges has the same statements to copy. */

/** Alarms publish to an encrypted topic as CloudWatch. */
export const alarmsStatement = (): PolicyStatement =>
  new PolicyStatement({
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
    resources: ['*'],
  });

export function logsStatement({ region, partition, account, urlSuffix }: Stack): PolicyStatement {
  return new PolicyStatement({
    principals: [new ServicePrincipal(`logs.${region}.${urlSuffix}`)],
    actions: ['kms:Decrypt*', 'kms:Describe*', 'kms:Encrypt*', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
    resources: ['*'],
    conditions: {
      ArnLike: { 'kms:EncryptionContext:aws:logs:arn': `arn:${partition}:logs:${region}:${account}:log-group:*` },
    },
  });
}

/** Shows a doubt about the props at synth. */
export type Warn = (id: string, text: string) => void;

/** Adds a statement to a key's policy; the policy of a key that is only imported cannot be changed. */
export function allowUse(key: IKey, statement: PolicyStatement, who: string, warn: Warn): void {
  if (key.addToResourcePolicy(statement).statementAdded) return;
  const name = Token.isUnresolved(key.keyArn) ? key.node.path : key.keyArn;
  warn(
    `key-policy-${who.replaceAll(' ', '-').toLowerCase()}`,
    `The policy of the key ${name} cannot be changed from here: it has to let ${who} use it (docs/privileges-and-network.md, "Keys of your own").`,
  );
}

/** Permission to use a key, but only through one service. */
export const throughService = (sid: string, key: IKey, service: string, actions: string[]): PolicyStatement =>
  new PolicyStatement({
    sid,
    actions: actions.map((action) => `kms:${action}`),
    resources: [key.keyArn],
    conditions: { StringLike: { 'kms:ViaService': `${service}.*` } },
  });
