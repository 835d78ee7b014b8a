import { type FaultDecision, type IncomingRequest, json, type Reply } from '../exchange.ts';
import { type Answered, answer } from './actions.ts';
import { frontendReply, interceptedReply, interceptionFor, scopeOf, substituted } from './intercept.ts';
import type { Server } from './search-engine.ts';
import type { Steps } from './steps.ts';

/** What became of one request. */
export interface Conducted {
  reply: Reply;
  /** False when something in between answered and the server did nothing. */
  acted: boolean;
  /** What `value` held in the server's own answer, where it was a text. */
  value?: string;
}

export interface Conduct {
  url: URL;
  body: unknown;
  token: string;
  decision: FaultDecision;
  /** Lets the server act later, for a decision that says so. */
  schedule(afterMillis: number, act: () => Steps<Answered>): void;
}

/**
 * Brings one request to the server, or not: as the test decides for it, or as what stands in front of the server does.
 * Whatever the client is told, `value` is what the server itself answered.
 */
export function* conduct(
  server: Server,
  request: IncomingRequest,
  { url, body, token, decision, schedule }: Conduct,
): Steps<Conducted> {
  const act = () => answer(server, token, request, url);
  const late = (reply: Reply): Reply => ({
    ...reply,
    delayMillis: (decision.delayMillis ?? 0) + server.behaviour.delayMillis,
  });
  const unanswered = json(200, '');

  if (decision.kind === 'fail-before') return { reply: late(substituted(decision.answer, unanswered)), acted: false };
  if (decision.kind === 'act-then') {
    if (decision.actsAfterMillis !== undefined) {
      schedule(decision.actsAfterMillis, act);
      return { reply: late(substituted(decision.answer, unanswered)), acted: true };
    }
    const own = yield* act();
    return { reply: late(substituted(decision.answer, own.reply)), acted: true, ...valueIn(own) };
  }

  const fronted = server.behaviour.frontend ? frontendReply(request, url.pathname) : undefined;
  if (fronted !== undefined) return { reply: late(fronted), acted: false };
  const action = url.searchParams.get('action') ?? undefined;
  const interception = interceptionFor(server.behaviour, scopeOf(action, body));
  if (interception !== undefined && !interception.acts) {
    return { reply: late(interceptedReply(interception, unanswered)), acted: false };
  }
  const own = yield* act();
  const reply = interception === undefined ? own.reply : interceptedReply(interception, own.reply);
  return { reply: late(reply), acted: true, ...valueIn(own) };
}

const valueIn = ({ value }: Answered) => (value === undefined ? {} : { value });
