import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { composeMessage } from '../../../lambda/notification/message.ts';
import { context } from './custom-notification.ts';
import { reports } from './reports.ts';

/**
 * What people and machines get, word for word, in test/lambda/notification/golden/. After a change of wording:
 * `UPDATE_GOLDEN=1 npx vitest run test/lambda/notification/golden.test.ts`, then read the difference as somebody
 * who gets the message at 7 in the morning would.
 */
const folder = new URL('./golden/', import.meta.url);
const update = process.env['UPDATE_GOLDEN'] === '1';

describe.each(Object.entries(reports))('the message of a run: %s', (name, report) => {
  const message = composeMessage(report, context);
  const files = {
    [`${name}.email.txt`]: `Subject: ${message.subject}\n\n${message.email}`,
    [`${name}.slack.json`]: `${JSON.stringify(JSON.parse(message.https), null, 2)}\n`,
    [`${name}.report.json`]: `${JSON.stringify(JSON.parse(message.sqs), null, 2)}\n`,
  };

  it.each(Object.entries(files))('%s is as agreed', (file, text) => {
    const path = new URL(file, folder);
    if (update) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(path, text);
    }
    expect(existsSync(path), `${file} is missing: run with UPDATE_GOLDEN=1`).toBe(true);
    expect(text).toBe(readFileSync(path, 'utf8'));
  });
});
