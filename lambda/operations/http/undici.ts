import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Client from 'undici/lib/dispatcher/client.js';

/**
 * The three parts of undici that the transport uses, imported directly: its index loads all of undici (fetch, caches,
 * WebSocket, mocks), 524 kB of a function's bundle and a third of its start (docs/performance.md). undici does not
 * guarantee these paths, so its version is pinned exactly and the transport's tests go through them.
 */
export { Agent, buildConnector, Client };
