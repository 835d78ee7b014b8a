import { readBaseUrl } from '../../lambda/gms/http/base-url.ts';
import { createHttpTransport } from '../../lambda/gms/http/http-transport.ts';
import { findGms } from './find-gms.ts';

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
