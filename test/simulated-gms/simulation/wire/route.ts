import type { Behavior } from '../behavior.ts';
import { RestliError } from './restli.ts';

/** What rest.li refuses before any resource sees it. */

/** The path as GMS gets it: something in front may strip a prefix. */
export function pathAt({ strippedPrefixes }: Behavior, pathname: string): string {
  const prefix = strippedPrefixes.find((one) => pathname.startsWith(`${one}/`)) ?? '';
  return pathname.slice(prefix.length);
}

/** @throws RestliError */
export function checkRoute(method: string, path: string): void {
  if (!/^\/operations\/?$/.test(path)) {
    throw new RestliError(404, `No root resource defined for path '/${path.split('/')[1] ?? ''}'`);
  }
  if (method !== 'POST') {
    throw new RestliError(
      400,
      `All action methods (specified via 'action' in URI) must be submitted as a POST (was ${method})`,
    );
  }
}
