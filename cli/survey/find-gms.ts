import { readBaseUrl } from '../../lambda/gms/http/base-url.ts';
import { createHttpTransport } from '../../lambda/gms/http/http-transport.ts';
import { isObject, parseJson } from '../../lambda/gms/responses/json-value.ts';
import type { HttpResponse } from '../../lambda/gms/transport.ts';

/** Where DataHub's frontend, its charts and usual gateways have GMS, below the address that people know. */
const paths = ['/api/gms', '/gms', '/datahub-gms', ''];

/**
 * The address of GMS, given another address of DataHub, such as the frontend's. No token is sent: anything may
 * answer there.
 * @param baseUrl as `readBaseUrl` gives it
 * @param get asks for a page without a token; undefined where nothing answered
 * @returns the first address that answers as GMS does, if GMS does not answer at `baseUrl` itself
 */
export async function findGms(
  baseUrl: string,
  get: (url: string) => Promise<HttpResponse | undefined>,
): Promise<string | undefined> {
  const own = await get(`${baseUrl}/config`);
  // Where every address is refused, a refusal does not show that GMS is there.
  if (own === undefined || isOfGms(own)) return undefined;
  const addresses = [baseUrl, new URL(baseUrl).origin].flatMap((base) => paths.map((path) => `${base}${path}`));
  for (const address of new Set(addresses.filter((one) => one !== baseUrl))) {
    const answer = await get(`${address}/config`);
    if (answer !== undefined && isOfGms(answer)) return address;
  }
  return undefined;
}

/** GMS shows its settings to everyone; in front of it the frontend wants a token. */
function isOfGms({ status, body }: HttpResponse): boolean {
  if (status === 401) return true;
  const config = status === 200 ? parseJson(body) : undefined;
  return isObject(config) && ('versions' in config || 'noCode' in config);
}

/** A check must not wait for an address that only the deployed functions reach. */
const timeoutMillis = 3000;

/**
 * A warning where something else answers at a stage's address, and GMS beside it; nothing is said where nothing answers.
 * @param path of the stage file
 */
export async function stageAddressWarnings(path: string, gmsUrl: string): Promise<string[]> {
  const address = readBaseUrl(gmsUrl);
  if (address.kind === 'wrong') return [];
  const network = createHttpTransport({ connectTimeoutMillis: timeoutMillis, readTimeoutMillis: timeoutMillis });
  try {
    const there = await findGms(address.baseUrl, (url) => network.page(url));
    if (there === undefined) return [];
    return [`${path}: warning: gmsUrl: DataHub's API answers at ${there}, not at ${address.baseUrl}: put that there.`];
  } finally {
    await network.close();
  }
}
