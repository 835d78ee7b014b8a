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

export function authority() {
  const folder = mkdtempSync(join(tmpdir(), 'retention-ca-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const read = (name: string) => readFileSync(at(name), 'utf8');
  openssl('req', '-x509', ...curve, '-days', '2', '-subj', '/CN=ca', '-keyout', at('ca.key'), '-out', at('ca.pem'));
  writeFileSync(at('ext'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  return {
    ca: read('ca.pem'),
    /** @param days how long it lives; below 0, it has expired */
    issue(days = 365): Issued {
      openssl('req', ...curve, '-subj', '/CN=job', '-keyout', at('key'), '-out', at('csr'));
      const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-extfile', at('ext'), '-days', `${days}`];
      openssl('x509', '-req', '-in', at('csr'), ...signed, '-out', at('crt'));
      return { cert: read('crt'), key: read('key') };
    },
    /** One that is valid from next year on, for a year. */
    early(): Issued {
      const { key } = this.issue();
      const day = (years: number) => `${new Date().getUTCFullYear() + years}0101000000Z`;
      writeFileSync(at('index'), '');
      const settings = [`database=${at('index')}`, `new_certs_dir=${folder}`, 'rand_serial=yes', 'default_md=sha256'];
      writeFileSync(at('conf'), ['[d]', ...settings, 'policy=p', '[p]', 'commonName=supplied', ''].join('\n'));
      const signed = ['-cert', at('ca.pem'), '-keyfile', at('ca.key'), '-extfile', at('ext'), '-notext'];
      const when = ['-startdate', day(1), '-enddate', day(2)];
      openssl(
        'ca',
        '-batch',
        '-config',
        at('conf'),
        '-name',
        'd',
        ...signed,
        ...when,
        '-in',
        at('csr'),
        '-out',
        at('crt'),
      );
      return { cert: read('crt'), key };
    },
    encrypted(key: string, password: string): string {
      writeFileSync(at('plain'), key);
      openssl('pkcs8', '-topk8', '-in', at('plain'), '-passout', `pass:${password}`, '-out', at('locked'));
      return read('locked');
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
