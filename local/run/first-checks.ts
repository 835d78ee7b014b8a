import type { Check } from '../../lambda/facts/check.ts';
import { lookup } from '../../lambda/operations/http/lookup.ts';
import { tokenCheck } from '../../lambda/preflight/checks.ts';
import { preflightOfAddress } from '../../lambda/preflight/preflight.ts';
import type { Server } from '../files/server.ts';

/**
 * What a preflight says without asking the server, so that a slow one leaves nobody in the dark: whether its name is known, and
 * a token that has expired. That an address or a token is well, only an answer tells.
 */
export async function firstChecks({ baseUrl, tokenText }: Server): Promise<Check[]> {
  const address = await preflightOfAddress({ gmsUrl: baseUrl, onLambda: false, lookup });
  const token = tokenCheck(tokenText, Date.now());
  return [...address.filter(({ name }) => name === 'DNS'), ...(token.state === 'failed' ? [token] : [])];
}
