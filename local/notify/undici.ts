import api from 'undici/lib/api/index.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';

// As undici's index does: its proxy agent opens tunnels by `connect`, which is no method of a dispatcher before.
Object.assign(Dispatcher.prototype, api);

/**
 * What posting needs of undici, past its index, which would bring all of it into the one file of the command line (see
 * lambda/operations/http/undici.ts).
 */
export { type Dispatcher, ProxyAgent };
