import { SSMClient } from '@aws-sdk/client-ssm';

/** What no function can do without; start-up is compared with it. */
export const client = new SSMClient({});
