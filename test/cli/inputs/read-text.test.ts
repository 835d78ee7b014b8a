import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { policiesFile } from '../../../cli/inputs/policies.ts';
import { readSecret, readText } from '../../../cli/inputs/read-text.ts';
import { folder } from '../processes.ts';
import { problemOf } from './problem.ts';

const policies = '[{ "entityType": "dataset", "aspect": "operation", "retentionDays": 90 }]';

describe('A file that the command line names', () => {
  test('may be a pipe, which is read once and then remembered', () => {
    const { at, write } = folder();
    const pipe = at('pipe');
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', ['-c', 'sleep 0.3; cat "$1" > "$2"', 'sh', write('policies.json', policies), pipe]);
    onTestFinished(() => void writer.kill());
    const { names, read } = policiesFile(pipe, undefined);
    expect(names).toEqual(['dataset.operation']);
    expect(read()).toEqual(read());
  });

  test.each([
    ['/dev/zero', 'it is neither a file nor a pipe'],
    ['/dev/null', 'it is neither a file nor a pipe'],
    ['/', 'it is a folder'],
    ['/no/such/file', 'no such file'],
  ])('is refused at %s: %s', (path, why) => {
    expect(problemOf(() => readText(path, '--policies'))).toBe(
      `--policies: ${path} cannot be read (${why}); check the path.`,
    );
  });

  test('is refused where it is far too large', () => {
    const path = folder().at('large');
    writeFileSync(path, Buffer.alloc(5 * 1024 * 1024));
    expect(problemOf(() => readText(path, '--policies'))).toMatch(/\(it is larger than 4 MB\); name the right file\.$/);
  });

  test.each([
    ['with its mark', `\ufeff${policies}`],
    ['without one', policies],
  ])('that holds a secret is refused in UTF-16 %s, as PowerShell writes it', (_, text) => {
    const path = folder().at('utf-16');
    writeFileSync(path, Buffer.from(text, 'utf16le'));
    expect(problemOf(() => readSecret(path, '--token-file'))).toMatch(/is not text in UTF-8: save it as UTF-8/);
  });

  test('is refused where it is a pipe that says nothing', () => {
    const pipe = folder().at('silent');
    execFileSync('mkfifo', [pipe]);
    expect(problemOf(() => readText(pipe, '--policies', 100))).toMatch(
      /\(nothing came out of it for 0\.1 s\); name a file\.$/,
    );
  });
});
