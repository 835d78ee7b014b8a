import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate authority for one test file, made by openssl, with certificates of its own. */

export interface Issued {
  cert: string;
  key: string;
}

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A moment that many days from now, in openssl's format. */
const utc = (days: number): string =>
  new Date(Date.now() + days * 86_400_000)
    .toISOString()
    .replace(/\..*|[-:T]/g, '')
    .concat('Z');

const settingsIn = (folder: string): string => `
[ca]
default_ca=own
[own]
database=${folder}/index
new_certs_dir=${folder}
certificate=${folder}/ca.pem
private_key=${folder}/ca.key
rand_serial=yes
default_md=sha256
policy=any
x509_extensions=hosts
[any]
commonName=supplied
[hosts]
subjectAltName=DNS:localhost,DNS:gateway.example.com,IP:127.0.0.1
`;

export function authority() {
  const folder = mkdtempSync(join(tmpdir(), 'retention-ca-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const read = (name: string) => readFileSync(at(name), 'utf8');
  openssl('req', '-x509', ...curve, '-days', '2', '-subj', '/CN=ca', '-keyout', at('ca.key'), '-out', at('ca.pem'));
  writeFileSync(at('index'), '');
  writeFileSync(at('index.attr'), 'unique_subject=no');
  writeFileSync(at('conf'), settingsIn(folder));
  return {
    ca: read('ca.pem'),
    /** Valid from `begins` to `ends`, in days from now; for a year unless `begins` is given. */
    issue(ends = 365, begins = Math.min(0, ends - 365)): Issued {
      openssl('req', ...curve, '-subj', '/CN=job', '-keyout', at('key'), '-out', at('csr'));
      const when = ['-startdate', utc(begins), '-enddate', utc(ends)];
      openssl('ca', '-batch', '-notext', '-config', at('conf'), ...when, '-in', at('csr'), '-out', at('crt'));
      return { cert: read('crt'), key: read('key') };
    },
    encrypted(key: string, password: string): string {
      writeFileSync(at('plain'), key);
      openssl('pkcs8', '-topk8', '-in', at('plain'), '-passout', `pass:${password}`, '-out', at('locked'));
      return read('locked');
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
