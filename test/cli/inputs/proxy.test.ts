import { afterEach, describe, expect, it, vi } from 'vitest';
import { proxyFor, readServer } from '../../../cli/inputs/server.ts';

const variables = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'];

function environment(given: Record<string, string>): NodeJS.ProcessEnv {
  for (const name of variables) {
    vi.stubEnv(name, '');
    vi.stubEnv(name.toUpperCase(), '');
  }
  for (const [name, value] of Object.entries(given)) vi.stubEnv(name, value);
  return process.env;
}
afterEach(() => void vi.unstubAllEnvs());

const proxy = 'http://proxy.example:3128';
const gmsAt = (gmsUrl: string, env: NodeJS.ProcessEnv) => readServer({ gmsUrl, identity: false }, env);

describe('a proxy variable', () => {
  it.each<[Record<string, string>, string, string | undefined]>([
    [{}, 'https://gms.example/gms', undefined],
    [{ HTTPS_PROXY: proxy }, 'https://gms.example/gms', proxy],
    [{ https_proxy: proxy }, 'https://gms.example/gms', proxy],
    [{ HTTPS_PROXY: 'proxy.example:3128' }, 'https://gms.example/gms', proxy],
    [{ ALL_PROXY: 'proxy.example:3128', https_proxy: '' }, 'https://gms.example/gms', proxy],
    [{ HTTPS_PROXY: proxy }, 'http://gms.example:8080', undefined],
    [{ HTTP_PROXY: proxy }, 'http://gms.example:8080', proxy],
    [{ ALL_PROXY: proxy }, 'http://gms.example:8080', proxy],
    [{ HTTPS_PROXY: proxy, NO_PROXY: 'gms.example' }, 'https://gms.example/gms', undefined],
    [{ HTTPS_PROXY: proxy, NO_PROXY: '.example' }, 'https://gms.example/gms', undefined],
    [{ HTTPS_PROXY: proxy, NO_PROXY: '*' }, 'https://gms.example/gms', undefined],
    [{ HTTPS_PROXY: proxy, NO_PROXY: 'other.example' }, 'https://gms.example/gms', proxy],
    [{ HTTP_PROXY: proxy }, 'http://127.0.0.1:8080', undefined],
    [{ HTTP_PROXY: proxy }, 'http://localhost:8080', undefined],
  ])('in %o applies to %s: %s', (given, url, expected) => {
    const env = environment(given);
    expect(proxyFor(url)).toBe(expected);
    if (expected === undefined) expect(() => gmsAt(url, env)).not.toThrow();
    else expect(() => gmsAt(url, env)).toThrow(`set NO_PROXY=gms.example`);
  });

  it('is refused with the range in NO_PROXY that is not read', () => {
    const env = environment({ HTTP_PROXY: proxy, NO_PROXY: 'localhost,10.0.0.0/8' });
    expect(() => gmsAt('http://10.1.2.3:8080', env)).toThrow(
      'set NO_PROXY=10.1.2.3 (in addition to its present value; a range such as 10.0.0.0/8 is not read there',
    );
  });

  it('is named in the refusal, with nothing of its value', () => {
    const env = environment({ HTTPS_PROXY: 'http://me:secret@proxy.example:3128' });
    expect(() => gmsAt('https://gms.example/gms', env)).toThrow(/^HTTPS_PROXY applies to gms\.example, and this/);
    expect(() => gmsAt('https://gms.example/gms', env)).not.toThrow('secret');
  });
});
