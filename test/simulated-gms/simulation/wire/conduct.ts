import type { FaultDecision, IncomingRequest, Reply } from '../exchange.ts';
import { type Answered, answer } from './actions.ts';
import { interceptedReply, interceptionFor, scopeOf, substituted } from './intercept.ts';
import type { Server } from './search-engine.ts';
import type { Steps } from './steps.ts';

/** The result of one request. */
export interface Conducted {
  reply: Reply;
  /** False if something in between answered and the server did nothing. */
  acted: boolean;
  /** The content of `value` in the server's own answer, if it was a string. */
  value?: string;
}

export interface Conduct {
  url: URL;
  body: unknown;
  token: string;
  decision: FaultDecision;
  /** Makes the server act later, for a decision that asks for it. */
  schedule(afterMillis: number, act: () => Steps<Answered>): void;
}

/**
 * Delivers one request to the server or not, as the test or something in front of the server decides.
 * Whatever the client gets, `value` is what the server itself answered.
 */
export function* conduct(
  server: Server,
  request: IncomingRequest,
  { url, body, token, decision, schedule }: Conduct,
): Steps<Conducted> {
  const act = () => answer(server, token, request, url);
  const late = (reply: Reply): Reply => ({ ...reply, delayMillis: server.behavior.delayMillis });

  if (decision.kind === 'fail-before') return { reply: late(substituted(decision.answer)), acted: false };
  if (decision.kind === 'act-then') {
    schedule(decision.actsAfterMillis, act);
    return { reply: late(substituted(decision.answer)), acted: true };
  }

  const action = url.searchParams.get('action') ?? undefined;
  const interception = interceptionFor(server.behavior, scopeOf(action, body));
  if (interception !== undefined && !interception.acts) {
    return { reply: late(interceptedReply(interception)), acted: false };
  }
  const own = yield* act();
  const reply = interception === undefined ? own.reply : interceptedReply(interception);
  return { reply: late(reply), acted: true, ...(own.value !== undefined && { value: own.value }) };
}
