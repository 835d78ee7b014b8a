import { Agent, buildConnector, Client } from '../../lambda/operations/http/undici.ts';

/** undici as the functions import it. */
export const handler = async () => [Agent, buildConnector, Client];
