import { GetParameterCommand, GetParametersByPathCommand, SSMClient } from '@aws-sdk/client-ssm';

/** A function that reads parameters and does nothing else: what any function with a configuration starts with. */
const client = new SSMClient();

export const handler = async () => ({
  one: await client.send(new GetParameterCommand({ Name: 'a' })),
  all: await client.send(new GetParametersByPathCommand({ Path: '/a' })),
});
