import { type Answered, answer } from './actions.ts';
import { type FaultDecision, type IncomingRequest, json, type Reply } from './exchange.ts';
import { frontendReply, interceptedReply, interceptionFor, scopeOf, substituted } from './intercept.ts';
import type { Server } from './server-context.ts';

/** What became of one request. */
export interface Conducted {
  reply: Reply;
  /** False when something in between answered and the server did nothing. */
  acted: boolean;
  /** What `value` held in the server's own answer, where it was a text. */
  value?: string;
}

/**
 * Brings one request to the server, or not: as the test decides for it, or as what stands in front of the server does.
 * Whatever the client is told, `value` is what the server itself answered.
 */
export function conduct(
  server: Server,
  request: IncomingRequest,
  { url, body, token, decision }: { url: URL; body: unknown; token: string; decision: FaultDecision },
): Conducted {
  const act = () => answer(server, token, request, url);
  const late = (reply: Reply): Reply => ({
    ...reply,
    delayMillis: (decision.delayMillis ?? 0) + server.behaviour.delayMillis,
  });
  const unanswered = json(200, '');

  if (decision.kind === 'fail-before') return { reply: late(substituted(decision.answer, unanswered)), acted: false };
  if (decision.kind === 'act-then') {
    const { cluster } = server;
    if (decision.actsAfterMillis !== undefined) {
      cluster.schedule(cluster.now + decision.actsAfterMillis, act);
      return { reply: late(substituted(decision.answer, unanswered)), acted: true };
    }
    const own = act();
    return { reply: late(substituted(decision.answer, own.reply)), acted: true, ...valueIn(own) };
  }

  const fronted = server.behaviour.frontend ? frontendReply(request, url.pathname) : undefined;
  if (fronted !== undefined) return { reply: late(fronted), acted: false };
  const action = url.searchParams.get('action') ?? undefined;
  const interception = interceptionFor(server.behaviour, scopeOf(action, body));
  if (interception !== undefined && !interception.acts) {
    return { reply: late(interceptedReply(interception, unanswered)), acted: false };
  }
  const own = act();
  const reply = interception === undefined ? own.reply : interceptedReply(interception, own.reply);
  return { reply: late(reply), acted: true, ...valueIn(own) };
}

const valueIn = ({ value }: Answered) => (value === undefined ? {} : { value });
