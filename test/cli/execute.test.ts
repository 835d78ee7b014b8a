import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DemoArguments, ServerRunArguments, SurveyArguments } from '../../cli/command-line/arguments.ts';
import { parseArguments } from '../../cli/command-line/arguments.ts';
import { UsageError } from '../../cli/command-line/usage-error.ts';
import { execute } from '../../cli/execute.ts';
import { defaultLedgerPath } from '../../cli/files/ledger-path.ts';
import { folder, page } from './processes.ts';

const files = () => folder((cleanUp) => onTestFinished(cleanUp));
const operation = { entityType: 'dataset', aspect: 'operation', retentionDays: 90 };
const nowhere = ['--gms-url', 'http://127.0.0.1:9'];

/** The refusal, and the output before it. */
async function refusal(args: string[], env: NodeJS.ProcessEnv = {}): Promise<{ problem: string; told: string }> {
  const asked = parseArguments(args, { DATAHUB_GMS_TOKEN: 'abc', ...env });
  const { output, text } = page();
  const running = execute(asked as DemoArguments | SurveyArguments | ServerRunArguments, output, env, 'npm start --');
  const error = await running.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  return { problem: (error as Error).message, told: text() };
}

/** A server that answers but does not say that its data is a sample. */
async function someServer(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    request.resume().on('end', () => response.end('{"value":{"sizes":[]}}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

describe('the ledger', () => {
  it('is in the user’s state folder by default, with that of sample data beside it', () => {
    expect(defaultLedgerPath({ XDG_STATE_HOME: '/state' }, false)).toBe('/state/datahub-retention/in-flight.json');
    expect(defaultLedgerPath({ XDG_STATE_HOME: '/state' }, true)).toBe(
      '/state/datahub-retention/sample-in-flight.json',
    );
    expect(defaultLedgerPath({ XDG_STATE_HOME: 'relative' }, false)).toMatch(
      /\/\.local\/state\/datahub-retention\/in-flight\.json$/,
    );
  });

  it('that turns out to be another kind of file is refused before anything is sent', async () => {
    const { at, write } = files();
    const notes = write('notes.txt', 'my notes\n');
    const args = ['enforce', ...nowhere, '--policies', write('p.json', [operation]), '--ledger', notes];
    expect((await refusal(args)).problem).toMatch(/^--ledger: /);
    expect(readFileSync(at('notes.txt'), 'utf8')).toBe('my notes\n');
  });

  it.each(['/proc/nope/l', '/dev/null/l'])('at %s, where no folder can be, is refused at once', async (ledger) => {
    const args = ['enforce', ...nowhere, '--policies', files().write('p.json', [operation]), '--ledger', ledger];
    expect((await refusal(args)).problem).toMatch(/^--ledger: Cannot open the ledger file .*give another path\.$/);
  });

  it('has to be named for a loopback address, because a forwarded port does not say which server it is', async () => {
    const { url } = await someServer();
    const args = ['enforce', '--gms-url', url, '--policies', files().write('p.json', [operation])];
    expect((await refusal(args)).problem).toMatch(/^enforce at a loopback address needs --ledger FILE/);
  });
});

describe('clear', () => {
  it.each([
    ['dataset.operations', /^clear dataset\.operations: neither .*; did you mean dataset\.operation\?$/],
    ['chart.somethingElse', /^clear chart\.somethingElse: neither .*; there are dataset\.operation\.$/],
  ])(
    'refuses %s, an index that neither a policy nor the ledger knows, before anything is sent',
    async (name, expected) => {
      const { at, write } = files();
      const args = ['clear', name, ...nowhere, '--policies', write('p.json', [operation])];
      const { problem, told } = await refusal([...args, '--ledger', at('in-flight.json')]);
      expect(problem).toMatch(expected);
      expect(told).toBe('');
    },
  );
});

describe('enforce with --fast', () => {
  it('is refused for a server that does not say that its data is a sample, after one harmless question', async () => {
    const { at, write } = files();
    const { url, asked } = await someServer();
    const args = ['enforce', '--gms-url', url, '--policies', write('p.json', [operation]), '--fast'];
    const { problem, told } = await refusal([...args, '--ledger', at('l')]);
    expect(problem).toMatch(/^enforce --fast is for sample data only/);
    expect(asked).toEqual(['/operations?action=getIndexSizes']);
    expect(told).toMatch(/^Server {2}http/);
  });
});

describe('before anything is printed or sent', () => {
  it.each<[string, (at: ReturnType<typeof files>) => string[], RegExp]>([
    [
      '--json over the policies',
      ({ write }) => {
        const path = write('p.json', [operation]);
        return ['preview', '--policies', path, '--json', path];
      },
      /^--json .* is the file of --policies/,
    ],
    [
      '--json over the token',
      ({ write }) => {
        const path = write('token', 'abc');
        return ['survey', '--token-file', path, '--json', path, '--force'];
      },
      /^--json .* is the file of --token-file/,
    ],
    [
      'a survey over policies that someone has edited',
      ({ write }) => ['survey', '--json', write('p.json', [operation])],
      /^--json .*: the file exists, and someone may have edited it: name another file, or add --force to replace it\.$/,
    ],
    [
      'a file of addresses that is empty',
      ({ write }) => ['preview', '--policies', write('p.json', [operation]), '--notify-url-file', write('hook', '\n')],
      /^--notify-url-file .* is empty: put the webhook's address there\.$/,
    ],
    [
      'an address in the place of its file',
      ({ write }) => [
        'preview',
        '--policies',
        write('p.json', [operation]),
        '--notify-url-file',
        'https://hooks.example/T0/secret',
      ],
      /^--notify-url-file takes the name of a file(?!.*secret)/,
    ],
  ])('%s is refused', async (_name, argsOf, expected) => {
    const { problem, told } = await refusal([...argsOf(files()), ...nowhere]);
    expect(problem).toMatch(expected);
    expect(told).toBe('');
  });
});
