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
  // Some gateways compress without saying so.
  const said = encoding?.trim().toLowerCase() || 'identity';
  const name = said === 'identity' && isGzip(bytes) ? 'gzip' : said;
  try {
    const decode = name === 'identity' ? (same: Buffer) => same : decoders[name];
    const plain = decode?.(bytes, { maxOutputLength: maxBytes });
    return plain && new TextDecoder(charsetOf(plain)).decode(plain);
  } catch {
    return undefined;
  }
}

const startsWith = (bytes: Buffer, ...first: number[]): boolean => first.every((byte, at) => bytes[at] === byte);

const isGzip = (bytes: Buffer): boolean => startsWith(bytes, 0x1f, 0x8b);

/** By the byte order mark, which the decoder leaves out. */
function charsetOf(bytes: Buffer): string {
  if (startsWith(bytes, 0xff, 0xfe)) return 'utf-16le';
  return startsWith(bytes, 0xfe, 0xff) ? 'utf-16be' : 'utf-8';
}
