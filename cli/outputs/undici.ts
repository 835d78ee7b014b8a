import api from 'undici/lib/api/index.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';

// As undici's index does: its proxy agent opens tunnels with `connect`, which dispatchers do not have otherwise.
Object.assign(Dispatcher.prototype, api);

/**
 * The parts of undici needed for posting, imported directly: its index would pull all of it into the single file of the
 * command line (see lambda/operations/http/undici.ts).
 */
export { type Dispatcher, ProxyAgent };
