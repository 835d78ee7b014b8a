import type { Behaviour } from '../behaviour.ts';
import type { IncomingRequest } from '../exchange.ts';
import { RestliError } from './restli.ts';

/** What rest.li refuses before any resource sees it. */

/** The path as GMS gets it: something in front may strip a prefix. */
export function pathAt({ strippedPrefixes }: Behaviour, pathname: string): string {
  const prefix = strippedPrefixes.find((one) => pathname.startsWith(`${one}/`)) ?? '';
  return pathname.slice(prefix.length);
}

const protocols = ['1.0.0', '2.0.0'];
const mediaTypes = ['*/*', 'application/*', 'application/json', 'application/x-pson'];

/** @throws RestliError without a content type */
export function checkRoute({ method, headers }: IncomingRequest, path: string, action: string | null): void {
  const protocol = headers['x-restli-protocol-version'];
  if (protocol !== undefined && !protocols.includes(protocol)) {
    throw new RestliError(400, `Rest.li protocol version ${protocol} used by the client is not supported!`, false);
  }
  if (!accepts(headers['accept'])) {
    throw new RestliError(
      406,
      `None of the types in the request's 'Accept' header are supported. Supported MIME types are: [application/x-pson, application/json]`,
      false,
    );
  }
  if (path !== '/operations' && path !== '/operations/') {
    throw new RestliError(404, `No root resource defined for path '/${path.split('/')[1] ?? ''}'`, false);
  }
  if (action === null && method === 'POST') {
    throw new RestliError(400, `POST operation not supported for URI: '${path}' with X-RestLi-Method: ''`, false);
  }
  if (method !== 'POST') {
    throw new RestliError(
      400,
      `All action methods (specified via 'action' in URI) must be submitted as a POST (was ${method})`,
      false,
    );
  }
}

const accepts = (accept: string | undefined): boolean =>
  accept === undefined ||
  accept.split(',').some((type) => mediaTypes.includes(type.split(';')[0]!.trim().toLowerCase()));
