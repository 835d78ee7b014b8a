import { expect } from 'vitest';
import { reportSchema } from '../../../lambda/facts/report-schema.ts';
import {
  type ComposedMessage,
  messageAttributes,
  messageBody,
  publishedBytes,
} from '../../../lambda/notification/message.ts';
import { customNotificationSchema } from './custom-notification.ts';

/** What SNS checks, what the readers of each protocol need, and what must not harm any reader. */

/** Characters that XML, and therefore SQS, refuses. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const notXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;
/** Characters that control a terminal or reverse text. */
const steering =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** @param names of all policies of the report: each is named, or counted */
export function expectValid(message: ComposedMessage, names: readonly string[]): void {
  expect(message.subject).toMatch(/^[\x21-\x7e][\x20-\x7e]{0,98}$/);
  const body = JSON.parse(messageBody(message));
  expect(Object.keys(body).sort()).toEqual(['default', 'email', 'https', 'sms']);
  for (const text of Object.values(body)) expect(typeof text).toBe('string');
  expect(Buffer.byteLength(messageBody(message))).toBeLessThan(262_144);
  expect(publishedBytes(message)).toBeLessThan(262_144);
  for (const { DataType, StringValue } of Object.values(messageAttributes(message))) {
    expect(DataType).toBe('String');
    expect(StringValue).not.toBe('');
  }
  expect(messageBody(message)).not.toMatch(notXml);
  expect(message.email).not.toMatch(steering);
  const slack = customNotificationSchema.parse(JSON.parse(body.https));
  const report = reportSchema.parse(JSON.parse(body.default));
  expect(body.sms).toBe(message.subject);
  expectComplete(message.email, names);
  expectComplete(slack.content.description, names, 'slack');
  const kept = new Set(report.policies.map(({ entityType, aspect }) => `${entityType}.${aspect}`));
  if (kept.size < names.length) {
    expect(report.notes?.[0]?.text).toContain(
      `${names.length - report.policies.length} of ${names.length} policies are left out`,
    );
  }
  expectExplained(message.email);
  expectExplainedInSlack(slack.content.description);
}

/** Every policy is named, or counted among those that are not. */
function expectComplete(text: string, names: readonly string[], form: 'email' | 'slack' = 'email'): void {
  // COMING UP may name indices again, or for the first time.
  const told = text.split('\nCOMING UP\n')[0]!;
  // Slack names none of those that the error of the run concerns.
  if (form === 'slack' && told.includes('nothing was done about')) return;
  const unnamed = names.filter((name) => !told.includes(name)).length;
  const known = new Set(names);
  const leftOut = [...told.matchAll(/Not named here[^:]*: (\d+) /g)].map(([, count]) => Number(count));
  const listed = [...told.matchAll(/([^\s*]+)\*? and (\d+) more[:.]/g)].flatMap(([, name, count]) =>
    known.has(name!) ? [Number(count)] : [],
  );
  expect([...leftOut, ...listed].reduce((sum, count) => sum + count, 0)).toBe(unnamed);
}

/** An indented line is a command or a request; the line above it ends with a colon and says what is deleted or opened. */
export function expectExplained(email: string): void {
  const lines = email.split('\n');
  lines.forEach((line, at) => {
    if (!line.startsWith('  ')) return;
    const above = lines[at - 1] ?? '';
    expect(above, line).toMatch(/^\S.*:$/);
    expectToSayWhatItDoes(above, line);
  });
}

function expectToSayWhatItDoes(above: string, command: string): void {
  if (/--input '\{"mode":"enforce"|^ +npm start -- enforce /.test(command)) {
    expect(above).toMatch(/\bdeletes\b/);
  }
  if (/--input '\{"clear"|^ +npm start -- clear /.test(command))
    expect(above).toMatch(/\breopens\b.*\bdeletes no row\b/);
  if (/^\s*POST _tasks\S+_cancel$/.test(command)) expect(above).toMatch(/\bstop\b/);
  if (/^\s*POST \/_aliases/.test(command)) expect(above).toMatch(/\bpoint the alias\b/);
  if (/^\s*POST \/_reindex/.test(command)) expect(above).toMatch(/\bCopy\b|\bcopies\b/);
  // A name may contain anything, and is quoted; a request names nothing but an index.
  expect(command).toMatch(
    /^(\s{2}|```)(aws |npm start |\{"|GET \S+$|POST \S+( \{.*\})?$|PUT \S+_settings \{.*\}(```)?$)/,
  );
}

/** Every code block has its line, and none opens an index: the requests that bring its rows back do not fit there. */
export function expectExplainedInSlack(description: string): void {
  const lines = description.split('\n');
  lines.forEach((line, at) => {
    if (!line.startsWith('```')) return;
    const above = lines[at - 1] ?? '';
    expect(above, line).toMatch(/^[A-Z].{20,}:$/);
    expect(line).not.toMatch(/"clear"|npm start -- clear|POST \/_(aliases|reindex)/);
    expectToSayWhatItDoes(above, line);
  });
}
