import { fixedIdentity } from '../../../lambda/gms/identity.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { isWorthPublishing, messageOf } from '../../../lambda/report/message.ts';
import { withSentences } from '../../../lambda/report/sentences/sentences.ts';
import { ParametersError, type Publisher } from '../../../lambda/run/services.ts';
import type { takeStep } from '../../support/steps.ts';
import { type Invocation, named, pause } from './invocation.ts';
import { operationsOf } from './wire.ts';

/** What one function gets: stores, parameters and a server, with everything that can happen on the way to them. */
export function servicesOf(invocation: Invocation): Parameters<typeof takeStep>[2] {
  const { world, info, exchange } = invocation;
  const { time, ledger, weather } = world;
  const parameter = <T>(what: string, value: () => T): Promise<T> => {
    const throttled = () => Promise.reject(new ParametersError(`${what} cannot be read: ThrottlingException`));
    return exchange(what, value, { throttled }, weather.parameters);
  };
  const stored = <T>(what: string, effect: () => Promise<T>): Promise<T> => {
    const refused = () => Promise.reject(new LedgerError(`Tried to ${what}: TimeoutError`));
    const lost = () => effect().then(refused);
    const isWrite = what.startsWith('write');
    if (isWrite && world.isFull) return exchange(`ledger ${what}`, refused);
    return exchange(`ledger ${what}`, effect, isWrite ? { refused, 'answer lost': lost } : { refused }, weather.ledger);
  };
  const begun = time.now();
  return {
    settings: info.settings,
    parameters: {
      policies: () =>
        parameter('policies', () => {
          const { policies } = world;
          world.journal.push({ at: time.now(), kind: 'settings', invocation: info, policies });
          return policies.map((source) => ({ ...source }));
        }),
      paused: () =>
        parameter('pause', () => {
          const paused = world.paused;
          world.journal.push({ at: time.now(), kind: 'settings', invocation: info, paused });
          return paused;
        }),
      identity: fixedIdentity({ token: 'token' }),
    },
    operations: operationsOf(invocation),
    ledger: {
      isTransient: true,
      read: (index) => stored('read', () => ledger.read(index)),
      list: () =>
        stored('list', () => {
          world.journal.push({ at: time.now(), kind: 'listed', invocation: info });
          return ledger.list();
        }),
      replace: (next) => stored(`write ${next.state}`, () => world.replace(info, next)),
    },
    clock: { now: time.now, monotonic: () => time.now() - begun, sleep: (millis) => pause(invocation, millis) },
    log: world.log,
    deadline: () => info.endsAt,
    publisher: publisherOf(invocation),
    count: (report) => world.counted(info, report),
    addSentences: withSentences,
  };
}

const publisherOf = ({ world, info, exchange }: Invocation): Publisher => ({
  publish(made, byHand = false) {
    // Composed only as a check: a report that cannot become a message is a defect.
    messageOf(made, { audience: { kind: 'aws' } });
    const isPublished = world.notify === 'always' || isWorthPublishing(made, byHand);
    const published = (confirmed: boolean) => {
      world.published(info, made, isPublished, confirmed);
      return true;
    };
    const refused = () => Promise.reject(named('PublishError'));
    const lost = () => {
      published(false);
      return refused();
    };
    if (world.isMute) return exchange('publish', refused);
    return exchange('publish', () => published(true), { refused, 'answer lost': lost }, world.weather.publish);
  },
});
