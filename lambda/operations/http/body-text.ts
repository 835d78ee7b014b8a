import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

const decoders: Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Buffer> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/**
 * The text of an answer, without a byte order mark. We ask for `identity`, and some gateways compress all the same.
 * @param encoding the `content-encoding` header
 * @param maxBytes no more than this is unpacked
 * @returns undefined if the bytes cannot be unpacked, or if there are more
 */
export function bodyText(bytes: Buffer, encoding: string | undefined, maxBytes: number): string | undefined {
  const name = encoding?.trim().toLowerCase() || 'identity';
  try {
    const decode = name === 'identity' ? (same: Buffer) => same : decoders[name];
    return decode?.(bytes, { maxOutputLength: maxBytes })
      .toString('utf8')
      .replace(/^\ufeff/, '');
  } catch {
    return undefined;
  }
}
