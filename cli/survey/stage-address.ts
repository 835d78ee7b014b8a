import { readBaseUrl } from '../../lambda/operations/http/base-url.ts';
import { createHttpTransport } from '../../lambda/operations/http/http-transport.ts';
import { readJson } from '../../lambda/policy/read-json.ts';
import { readText } from '../inputs/read-text.ts';
import { findGms } from './find-gms.ts';

/** A check must not wait for an address that only the deployed functions reach. */
const patienceMillis = 3000;

/**
 * A warning where something else answers at a stage's address, and GMS beside it; nothing is said where nothing answers.
 * @param path of a stage file without mistakes, if one was given
 */
export async function stageAddressWarnings(path: string | undefined): Promise<string[]> {
  if (path === undefined) return [];
  const read = readJson(readText(path, '--stage'), { comments: true });
  const given = read.kind === 'wrong' ? undefined : (read.value as { gmsUrl?: unknown }).gmsUrl;
  const address = readBaseUrl(typeof given === 'string' ? given : '');
  if (address.kind === 'wrong') return [];
  const network = createHttpTransport({ connectTimeoutMillis: patienceMillis, readTimeoutMillis: patienceMillis });
  try {
    const there = await findGms(address.baseUrl, (url) => network.page(url));
    if (there === undefined) return [];
    return [`${path}: warning: gmsUrl: DataHub's API answers at ${there}, not at ${address.baseUrl}: put that there.`];
  } finally {
    await network.close();
  }
}
