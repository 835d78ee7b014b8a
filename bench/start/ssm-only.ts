import { GetParameterCommand, GetParametersByPathCommand, SSMClient } from '@aws-sdk/client-ssm';

/** A function that only reads parameters: the start of any function with a configuration. */
const client = new SSMClient();

export const handler = async () => ({
  one: await client.send(new GetParameterCommand({ Name: 'a' })),
  all: await client.send(new GetParametersByPathCommand({ Path: '/a' })),
});
