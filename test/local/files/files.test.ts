import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseArguments, UsageError } from '../../../local/command-line/arguments.ts';
import { execute } from '../../../local/execute.ts';
import { checkWritable, defaultLedgerPath, readPolicies, readServer } from '../../../local/files/server.ts';
import { folder } from '../processes.ts';

const files = () => folder((cleanUp) => onTestFinished(cleanUp));
const operation = { entityType: 'dataset', aspect: 'operation', retentionDays: 90 };

function problemOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as UsageError).message;
  }
  throw new Error('It was taken.');
}

describe('a policies file', () => {
  it.each<[string, unknown, RegExp]>([
    [
      'that is not JSON',
      '[\n{"entityType": "dataset",}\n]',
      /policies\.json is not JSON \(line 2, column 26\): look for/,
    ],
    ['that holds nothing', '', /policies\.json is empty\.$/],
    [
      'with a key given twice',
      '[{"entityType":"dataset","aspect":"operation","retentionDays":90,"retentionDays":30}]',
      /has the key "retentionDays" twice in one object \(line 1, column 66\): keep one of them\.$/,
    ],
    [
      'that is a whole stage',
      { gmsUrl: 'x', policies: [operation] },
      /give only the list that stands under "policies"/,
    ],
    ['that holds no list', operation, /must hold a list of policies: put \[ and \] around them/],
    ['that is empty', [], /empty list/],
    ['with an unknown field', [{ ...operation, retentionsDays: 1 }], /did you mean retentionDays\?/],
    [
      'with a value out of range',
      [{ ...operation, retentionDays: 6 }],
      /retentionDays must be at least 7 \(minRetentionDays\), not 6/,
    ],
    ['without a field', [{ entityType: 'dataset', aspect: 'operation' }], /retentionDays is missing/],
    [
      'with two for one index',
      [operation, { ...operation, aspect: 'Operation' }],
      /2 policies are for dataset.operation/,
    ],
    ['for the state of ingestion', [{ ...operation, aspect: 'datahubIngestionCheckpoint' }], /never truncated/],
  ])('%s is refused as a whole, with the field and the remedy', (_name, content, problem) => {
    const path = files().write('policies.json', content);
    expect(problemOf(() => readPolicies(path, 7))).toMatch(problem);
  });

  it('with one bad policy among good ones is refused', () => {
    const path = files().write('policies.json', [operation, { ...operation, aspect: 'x', batchSize: 0 }]);
    expect(problemOf(() => readPolicies(path, 7))).toMatch(/policy 2: batchSize must be at least 1/);
  });

  it('may begin with a byte order mark', () => {
    const path = files().write('policies.json', `\ufeff${JSON.stringify([operation])}`);
    expect(readPolicies(path, 7)).toHaveLength(1);
  });

  it('must hold the index of --only, in any case', () => {
    const path = files().write('policies.json', [operation]);
    expect(readPolicies(path, 7, ['DATASET.Operation'])).toHaveLength(1);
    expect(problemOf(() => readPolicies(path, 7, ['dataset.operations']))).toMatch(/did you mean dataset\.operation\?/);
  });
});

describe('an access token', () => {
  const server = (path: string) => readServer({ gmsUrl: 'http://gms:8080', token: { kind: 'file', path } });

  it('is taken without the blanks around it', async () => {
    const path = files().write('token', '\n  abc.def \r\n');
    expect(await server(path).token.get()).toBe('abc.def');
  });

  it('is read again when the server refuses it', async () => {
    const path = files().write('token', 'old');
    const { token } = server(path);
    writeFileSync(path, 'new\n');
    expect(await token.get()).toBe('old');
    expect(await token.reread()).toBe('new');
    expect(await token.get()).toBe('new');
  });

  it.each([
    ['empty', ' \n', /is empty/],
    ['two words', 'secret words', /holds no token/],
  ])('file that is %s is refused without showing it', (_name, content, problem) => {
    const path = files().write('token', content);
    const message = problemOf(() => server(path));
    expect(message).toMatch(problem);
    expect(message).not.toContain('secret');
  });

  it('file that is not there is named', () => {
    expect(problemOf(() => server('/no/such/token'))).toBe(
      '--token-file: /no/such/token cannot be read (no such file); check the path.',
    );
  });
});

describe('a server', () => {
  const token = { kind: 'text', text: 'abc' } as const;

  it.each(['ftp://gms', 'gms:8080', 'http://', 'http://user:pw@gms', 'http://gms/operations?action=x'])(
    'is refused at the address %s',
    (gmsUrl) => {
      const message = problemOf(() => readServer({ gmsUrl, token }));
      expect(message).toMatch(/^--gms-url: The GMS address/);
      expect(message).not.toContain('pw');
    },
  );

  it('is refused with certificates that are none', () => {
    const caPath = files().write('ca.pem', 'not PEM');
    expect(problemOf(() => readServer({ gmsUrl: 'https://gms', token, caPath }))).toMatch(/--ca-file .*PEM/);
  });
});

describe('the path of --json', () => {
  it('that can be written is left as it was', () => {
    const { at, write } = files();
    checkWritable(at('new.json'));
    expect(existsSync(at('new.json'))).toBe(false);
    checkWritable(write('old.json', 'old'));
    expect(readFileSync(at('old.json'), 'utf8')).toBe('old');
  });

  it('in a folder that does not exist is refused', () => {
    expect(problemOf(() => checkWritable(files().at('no/report.json')))).toContain('its folder does not exist');
  });

  it('that is a folder is refused', () => {
    const path = files().at('reports');
    mkdirSync(path);
    expect(problemOf(() => checkWritable(path))).toContain('it is a folder');
  });

  it('beneath something that is no folder is refused', () => {
    expect(problemOf(() => checkWritable('/dev/null/report.json'))).toContain('no folder');
  });
});

describe('the ledger', () => {
  it('is in the state folder of the user by default', () => {
    expect(defaultLedgerPath({ XDG_STATE_HOME: '/state' })).toBe('/state/datahub-retention/in-flight.json');
    expect(defaultLedgerPath({ XDG_STATE_HOME: 'relative' })).toMatch(
      /\/\.local\/state\/datahub-retention\/in-flight\.json$/,
    );
  });

  it('that is another file is refused before anything is sent', async () => {
    const { at, write } = files();
    const notes = write('notes.txt', 'my notes\n');
    const args = [
      '--gms-url',
      'http://127.0.0.1:9',
      '--policies',
      write('p.json', [operation]),
      '--enforce',
      '--ledger',
      notes,
    ];
    const asked = parseArguments(args, { DATAHUB_GMS_TOKEN: 'abc' });
    await expect(execute(asked, { width: 80, write: () => {} }, {}, 'npm start --')).rejects.toThrow(/^--ledger: /);
    expect(readFileSync(at('notes.txt'), 'utf8')).toBe('my notes\n');
  });
});

describe('--clear', () => {
  const clearing = (name: string) => {
    const { at, write } = files();
    const policies = write('p.json', [operation]);
    const args = ['--gms-url', 'http://127.0.0.1:9', '--policies', policies, '--enforce', '--clear', name];
    return parseArguments([...args, '--ledger', at('in-flight.json')], { DATAHUB_GMS_TOKEN: 'abc' });
  };

  it.each([
    ['dataset.operations', /^--clear dataset\.operations: neither .*; did you mean dataset\.operation\?$/],
    ['chart.somethingElse', /^--clear chart\.somethingElse: neither .*; there are dataset\.operation\.$/],
  ])('of %s, which nothing knows, is refused before anything is sent', async (name, problem) => {
    let written = '';
    const screen = { width: 80, write: (text: string) => (written += text) };
    const error = await execute(clearing(name), screen, {}, 'npm start --').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toMatch(problem);
    expect(written).toBe('');
  });
});

describe('--fast with --enforce', () => {
  it('is refused for a server that is not on this machine', async () => {
    const policies = files().write('p.json', [operation]);
    const args = ['--gms-url', 'http://gms.example:8080', '--policies', policies, '--enforce', '--fast'];
    const asked = parseArguments(args, { DATAHUB_GMS_TOKEN: 'abc' });
    await expect(execute(asked, { width: 80, write: () => {} }, {}, 'npm start --')).rejects.toThrow(
      'this machine only',
    );
  });
});
