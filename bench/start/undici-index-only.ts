import { Agent, buildConnector, Client } from 'undici';

/** undici as one would import it. */
export const handler = async () => [Agent, buildConnector, Client];
