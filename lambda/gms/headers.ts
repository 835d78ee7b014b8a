import { placeholder } from './secrets.ts';

/** Headers that a gateway in front of DataHub asks for: what may be sent in addition to our own. */

/** Of all of them together: many servers take no more in one request. */
const maxBytes = 8192;

/** Those that say what the request is, or how it travels: ours are right, and others could change what it does. */
const ours = [
  /^(?:host|content-.*|accept(?:-encoding)?|date|expect|range|if-.*|prefer|idempotency-key)$/i,
  /^(?:connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|http2-settings)$/i,
  // Of gateways, meshes and DataHub's REST framework.
  /^x-(?:(?:original|rewrite)-url|(?:http-)?method.*|restli-.*|envoy-.*)$|^l5d-/i,
];

/** A name as HTTP has it (RFC 9110 §5.1). */
const isName = (text: string): boolean => /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(text);

/**
 * Reads a text with one `Name: value` a line; those that begin with # are comments.
 * @returns or what is wrong with it, to follow the name of its file; no value is shown
 */
export function readHeaders(text: string): { headers: Record<string, string> } | { problem: string } {
  const entries: Array<[string, string]> = [];
  for (const [at, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const [, name = '', value = ''] = /^([^:\s]+):(.*)$/.exec(line) ?? [];
    if (!isName(name)) return { problem: `has no header in line ${at + 1}: write one "Name: value" a line` };
    entries.push([name, value.trim()]);
  }
  if (entries.length === 0) return { problem: 'is empty: write one "Name: value" a line' };
  const problem = problemOfHeaders(entries);
  return problem === undefined ? { headers: Object.fromEntries(entries) } : { problem };
}

/**
 * What is wrong with headers, to follow the name of where they are kept; undefined if they can be sent.
 * @param besideToken DataHub's token is sent as well
 */
export function problemOfHeaders(entries: ReadonlyArray<[string, string]>, besideToken = false): string | undefined {
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    if (!isName(name)) return 'has a name that no header can have';
    if (seen.has(lower)) return `has ${name} twice: keep one of them`;
    if (ours.some((form) => form.test(name))) return `has ${name}, which belongs to the request itself: leave it out`;
    if (value === '') return `has ${name} without a value`;
    if (!/^[\x20-\x7e\t]+$/.test(value)) {
      return `has a line break or another character in ${name} that no header can have`;
    }
    if (placeholder.test(value))
      return `has a placeholder in ${name} that nothing has replaced: write the value itself`;
    if (lower === 'authorization' && besideToken) {
      return `has ${name} beside DataHub's token, which DataHub reads in that header alone: use Proxy-Authorization if the gateway reads that, or an address of GMS behind it`;
    }
    seen.add(lower);
  }
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  return bytes > maxBytes ? `has ${bytes} bytes of headers, and servers take at most ${maxBytes}` : undefined;
}
