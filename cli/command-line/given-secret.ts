import { existsSync } from 'node:fs';
import { looksLikeToken } from '../../lambda/gms/secrets.ts';

/** Whether an address, a token, a header or a key was given in place of a file name, quoted or without its scheme. */
export function looksSecret(text: string): boolean {
  const bare = text.replace(/^["']+/, '');
  if (/^\w+:\/\/|^-----BEGIN/.test(bare) || looksLikeToken(bare)) return true;
  // A header, in place of a file with it.
  if (/^[\w-]{2,}:/.test(bare)) return !existsSync(text);
  return /^(?:[\w-]+\.){2,}[a-z]{2,}\/(?:services|hooks|webhook\w*|workflows)\b/.test(bare) && !existsSync(text);
}
