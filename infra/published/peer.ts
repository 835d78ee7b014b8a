import { createRequire } from 'node:module';
import packageManifest from '../../package.json' with { type: 'json' };

/**
 * Imported before anything from aws-cdk-lib: with a release that lacks a module that we need, users would only see a
 * stack trace. The peers are optional to npm, because the command line needs neither; the construct needs both.
 */

export class PeerError extends Error {
  override readonly name = 'PeerError';
}

/**
 * @param installed the version of aws-cdk-lib in the app, undefined if there is none
 * @param needed the range of package.json, `>=<version> <3`
 * @returns what is wrong with it, in one sentence
 */
export function peerProblem(installed: string | undefined, needed: string): string | undefined {
  const lowest = /\d+\.\d+\.\d+/.exec(needed)![0];
  const remedy = `npm install aws-cdk-lib@^${lowest} constructs@^10`;
  if (installed === undefined) return `The construct needs aws-cdk-lib and constructs, which this app lacks: ${remedy}`;
  const sameMajor = installed.split('.')[0] === lowest.split('.')[0];
  if (sameMajor && installed.localeCompare(lowest, 'en', { numeric: true }) >= 0) return undefined;
  return `The construct needs aws-cdk-lib ${lowest} or a later 2.x, and this app has ${installed}: ${remedy}`;
}

function installedVersion(): string | undefined {
  try {
    return createRequire(import.meta.url)('aws-cdk-lib/package.json').version;
  } catch {
    return undefined;
  }
}

const problem = peerProblem(installedVersion(), packageManifest.peerDependencies['aws-cdk-lib']);
if (problem !== undefined) throw new PeerError(problem);
