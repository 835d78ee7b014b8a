import { readAttempts } from '../../lambda/facts/limits.ts';
import { createOperations } from '../../lambda/operations/http/http-operations.ts';
import { type Exchange, type Transport, TransportError } from '../../lambda/operations/http/transport.ts';
import type { Operations } from '../../lambda/operations/operations.ts';
import type { Engine } from '../../test/operations-service/engine.ts';
import { answerMillis } from './latencies.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface Requests {
  dryRun: number;
  truncate: number;
  status: number;
  sizes: number;
}

/**
 * The client of the deployment, with its transport connected directly to an engine: same wire, no network, virtual
 * time.
 */
export function inProcess(engine: Engine, time: VirtualTime): { operations: Operations; requests: Requests } {
  const requests: Requests = { dryRun: 0, truncate: 0, status: 0, sizes: 0 };

  const kindOf = ({ url, body }: Exchange): keyof Requests => {
    const action = new URL(url).searchParams.get('action');
    if (action === 'getEsTaskStatus') return 'status';
    if (action === 'getIndexSizes') return 'sizes';
    return (JSON.parse(body) as { dryRun: boolean }).dryRun ? 'dryRun' : 'truncate';
  };

  const post = async (exchange: Exchange) => {
    const kind = kindOf(exchange);
    requests[kind] += 1;
    const millis = kind === 'status' || kind === 'sizes' ? answerMillis.read : answerMillis[kind];
    await time.sleep(millis / 2);
    const { pathname, search } = new URL(exchange.url);
    const headers = Object.fromEntries(
      Object.entries(exchange.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const reply = engine.handle({ method: 'POST', path: pathname + search, headers, body: exchange.body });
    await time.sleep(millis / 2);
    if (reply.kind !== 'reply') throw new TransportError('reset', true);
    const answered = Object.entries(reply.headers).map(([name, value]) => [name.toLowerCase(), value]);
    return { status: reply.status, headers: Object.fromEntries(answered), body: reply.body, complete: true };
  };

  const transport: Transport = {
    post,
    postOnce(exchange, maySend) {
      if (!maySend()) throw new TransportError('withheld', false);
      return post(exchange);
    },
  };
  const token = { get: async () => engine.token, reread: async () => engine.token };
  const operations = createOperations({
    baseUrl: 'http://gms.example.com',
    token,
    transport,
    attempts: readAttempts,
    realNow: time.realNow,
    sleep: time.sleep,
    random: () => 0.5,
  });
  return { operations, requests };
}
