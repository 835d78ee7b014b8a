import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './commands.ts';

export interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

/** A fresh clone of what is here, and a shell in it. */
export interface Clone {
  folder: string;
  at(path: string): string;
  write(path: string, content: unknown): void;
  read(path: string): string;
  /** Puts a program into the shell's PATH; `script` is what `sh` runs. */
  shim(name: string, script: string): void;
  /** Runs it as a person would paste it, without a terminal; nothing but PATH and HOME comes from this environment. */
  sh(text: string, env?: Record<string, string>): Promise<Ran>;
  remove(): void;
}

export function cloneHere(): Clone {
  const base = mkdtempSync(join(tmpdir(), 'datahub-retention-pages-'));
  const [origin, folder, bin] = ['origin', 'clone', 'bin'].map((name) => join(base, name)) as [string, string, string];
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
  for (const file of git('ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate')
    .trim()
    .split('\n')) {
    mkdirSync(dirname(join(origin, file)), { recursive: true });
    cpSync(join(root, file), join(origin, file));
  }
  const person = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  git('init', '--quiet', origin);
  git('-C', origin, 'add', '--all');
  git('-C', origin, ...person, 'commit', '--quiet', '--message', 'What is here');
  git('clone', '--quiet', origin, folder);
  mkdirSync(bin);
  const home = process.env['HOME'] ?? '';
  const at = (path: string) => join(folder, path);
  return {
    folder,
    at,
    write: (path, content) =>
      writeFileSync(at(path), typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 }),
    read: (path) => readFileSync(at(path), 'utf8'),
    shim(name, script) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    },
    sh: (text, env = {}) =>
      new Promise((resolve) => {
        // npm finds its cache and registry where they are.
        const usual = { PATH: `${bin}:${process.env['PATH']}`, HOME: home, npm_config_update_notifier: 'false' };
        const child = execFile(
          'bash',
          ['-c', text],
          { cwd: folder, env: { ...usual, ...env }, maxBuffer: 64e6 },
          (_, stdout, stderr) => resolve({ status: child.exitCode ?? -1, stdout, stderr }),
        );
        child.stdin?.end();
      }),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}
