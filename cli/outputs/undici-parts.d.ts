/** undici only ships types for its index. */

declare module 'undici/lib/dispatcher/dispatcher.js' {
  export { Dispatcher as default } from 'undici';
}

declare module 'undici/lib/dispatcher/proxy-agent.js' {
  export { ProxyAgent as default } from 'undici';
}

declare module 'undici/lib/api/index.js' {
  const api: object;
  export default api;
}
