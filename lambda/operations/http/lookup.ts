import { promises } from 'node:dns';

/** The addresses that this machine's resolver has for a host name; throws like Node if there is none. */
export const lookup = async (hostname: string): Promise<string[]> =>
  (await promises.lookup(hostname, { all: true })).map(({ address }) => address);
