import type { Check } from '../../lambda/facts/check.ts';
import { lookup } from '../../lambda/operations/http/lookup.ts';
import { tokenCheck } from '../../lambda/preflight/checks.ts';
import { preflightOfAddress } from '../../lambda/preflight/preflight.ts';
import type { Server } from '../files/server.ts';

/**
 * What a preflight can report before a slow server answers: whether its name resolves, and whether the token has
 * expired. Only an answer shows that an address or a token is good.
 */
export async function firstChecks({ baseUrl, tokenText }: Server): Promise<Check[]> {
  const address = await preflightOfAddress({ gmsUrl: baseUrl, onLambda: false, lookup });
  const token = tokenCheck(tokenText, Date.now());
  return [...address.filter(({ name }) => name === 'DNS'), ...(token.state === 'failed' ? [token] : [])];
}
