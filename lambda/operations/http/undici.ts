import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Client from 'undici/lib/dispatcher/client.js';

/**
 * The three parts of undici that the transport stands on, past its index: that one loads all of undici (fetch, caches,
 * WebSocket, mocks), 524 kB of a function's bundle and a third of its start (docs/performance.md). These paths are no promise
 * of undici's, so its version is pinned to the letter and the transport's tests go through them.
 */
export { Agent, buildConnector, Client };
