import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Says where a service is that a person has started. The token's file is there until the process is ended.
 * @param what of the service, a paragraph of its own
 */
export function greet({ url, token }: { url: string; token: string }, what: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-'));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      rmSync(folder, { recursive: true });
      process.exit(0);
    });
  }
  const cutoff = Date.now() - 90 * 86_400_000;
  process.stdout.write(`${what} at ${url}
  token file  ${tokenFile}

A dry run:
  curl -s '${url}/operations?action=truncateTimeseriesAspect' \\
    -H "Authorization: Bearer $(cat ${tokenFile})" -H 'Content-Type: application/json' \\
    -d '{"entityType": "dataset", "aspect": "operation", "endTimeMillis": ${cutoff}}'

Ctrl-C ends it.
`);
}
