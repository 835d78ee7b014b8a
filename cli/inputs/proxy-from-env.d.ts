/** The package ships no types. */
declare module 'proxy-from-env' {
  /** Reads the process's environment; empty if no proxy applies. */
  export function getProxyForUrl(url: string): string;
}
