import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Java and Maven: whether they are installed, OpenSearch's jars, and the launcher's class. */

const here = fileURLToPath(new URL('./', import.meta.url));
const leastJava = 17;
const downloadMillis = 240_000;

/** One sentence: why there is no engine to test against. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

/**
 * Downloads and compiles into `folder`.
 * @returns the class path
 * @throws Skipped if Java or Maven is missing or the download fails; Error if the launcher does not compile
 */
export async function prepareJava(folder: string): Promise<string> {
  const java = await output('java', ['-version'], 20_000);
  const found = Number(/version "(?:1\.)?(\d+)/.exec(java.text)?.[1] ?? 0);
  if (java.status !== 0 || found < leastJava) {
    throw new Skipped(found === 0 ? 'there is no Java here' : `Java ${found} is here, and ${leastJava} is needed`);
  }
  if ((await output('mvn', ['-v'], 60_000)).status !== 0) throw new Skipped('there is no Maven here');

  const jars = join(folder, 'jars');
  const copy = ['-q', '-B', '-f', join(here, 'pom.xml'), 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
  const downloaded = await output('mvn', copy, downloadMillis);
  if (downloaded.status !== 0) throw new Skipped(`Maven cannot fetch OpenSearch (${lastLine(downloaded.text)})`);

  const classes = join(folder, 'classes');
  await mkdir(classes, { recursive: true });
  const compile = ['-cp', join(jars, '*'), '-d', classes, join(here, 'EngineNode.java')];
  const compiled = await output('javac', compile, 60_000);
  if (compiled.status !== 0) throw new Error(`The launcher does not compile:\n${compiled.text}`);
  return [classes, join(jars, '*')].join(delimiter);
}

/** What a command prints, on standard output and error; if there is no such command, its status is undefined. */
function output(command: string, args: string[], millis: number): Promise<{ status?: number; text: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: millis });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
    }
    child.on('error', (error) => resolve({ text: error.message }));
    child.on('close', (status) => resolve({ ...(status !== null && { status }), text }));
  });
}

const lastLine = (text: string): string =>
  (
    text
      .trim()
      .split('\n')
      .find((line) => /ERROR/.test(line)) ?? text
  ).slice(0, 160);
