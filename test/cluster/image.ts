import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { jobVersion } from '../../version.ts';
import { root } from '../pages/commands.ts';

/** What the Dockerfile builds, as a folder; the libraries and Node are those of this machine. */
export interface Image {
  root: string;
  entrypoint: string[];
  user: number;
  group: number;
  workingFolder: string;
}

/** Where this machine's programs and libraries are; a pod sees them, and cannot write to them. */
export const ofThisMachine = ['/bin', '/sbin', '/lib', '/lib64', '/usr'].filter((path) => existsSync(path));
export const nodeInImage = '/image/node';

/** @param folder that does not exist yet */
export function layOut(folder: string): Image {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'pipe' });
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const dockerfile = text.split(/^FROM .*$/m).at(-1)!;
  const one = (pattern: RegExp) => pattern.exec(dockerfile)!.slice(1) as [string, string];
  const [workingFolder] = one(/^WORKDIR (.*)$/m);
  const [user, group] = one(/^USER (\d+):(\d+)$/m).map(Number) as [number, number];
  for (const path of [...ofThisMachine, '/proc', '/dev', '/etc', '/tmp', '/image']) {
    mkdirSync(join(folder, path), { recursive: true });
  }
  for (const path of ['/etc/hosts', nodeInImage]) writeFileSync(join(folder, path), '');
  writeFileSync(join(folder, 'etc/nsswitch.conf'), 'hosts: files\n');
  for (const [, copied] of dockerfile.matchAll(/^COPY --from=build (.*)$/gm)) {
    const paths = copied!.split(' ');
    if (paths.includes('/source/bin/')) continue;
    const target = join(folder, workingFolder, paths.at(-1)!);
    for (const path of paths.slice(0, -1)) cpSync(path.replace('/source', root), join(target, basename(path)));
  }
  // This machine's /usr is above the image's own.
  const [, target, link] = / ln -s (\S+) (\S+)$/m.exec(text)!;
  symlinkSync(target!, join(folder, dirname(nodeInImage), basename(link!)));
  const [entrypoint] = one(/^ENTRYPOINT (.*)$/m);
  return { root: folder, entrypoint: JSON.parse(entrypoint), user, group, workingFolder };
}

/** The same program, of which `--version` and every message say another version. */
export function asVersion(version: string, image: Image, folder: string): Image {
  cpSync(image.root, folder, { recursive: true });
  const program = join(folder, image.workingFolder, 'dist/cli.mjs');
  writeFileSync(program, readFileSync(program, 'utf8').replaceAll(`"${jobVersion()}"`, `"${version}"`));
  return { ...image, root: folder };
}
