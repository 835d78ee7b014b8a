import { afterEach, expect, test, vi } from 'vitest';
import { environments, type FunctionName } from '../../lambda/aws/environment.ts';

afterEach(() => vi.unstubAllEnvs());

const chosen: Record<string, string> = {
  ...{ MODE: 'enforce', NO_IDENTITY: 'true', POWERTOOLS_LOG_LEVEL: 'INFO', NOTIFY: 'always' },
  ...{ EMAIL_FORMAT: 'mail', HTTPS_FORMAT: 'json', QUEUE_FORMAT: 'json' },
};

test.each(Object.keys(environments) as FunctionName[])(
  'a test event of the console does nothing in %s, and says what to start',
  async (name) => {
    for (const variable of Object.keys(environments[name].shape)) vi.stubEnv(variable, chosen[variable] ?? '7');
    const { handler } = await import(`../../lambda/handlers/${name}.ts`);
    for (const event of [{ key1: 'value1' }, {}, null, 'x', { execution: {} }, { runId: 7 }])
      await expect(handler(event, {})).rejects.toThrow(/^Nothing was done: .* Start an execution of the state machine/);
  },
);
