import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sampleIndices } from '../../cli/embedded-service/samples.ts';
import { FaultError, faults, faultUsage, scopes } from './faults.ts';
import { type ProfileName, profileNamed, profileNames } from './profiles.ts';
import { startOperationsService } from './server.ts';

/** `npm run operations-service -- [--port N] [--profile NAME] [--fault NAME[=VALUE]]…`: the service alone, until Ctrl-C. */

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const options = { port: text, profile: text, fault: { ...text, multiple: true }, help: { type: 'boolean' } } as const;
  const { port = '0', profile = 'specification', fault = [], help } = parseArgs({ options }).values;
  if (help || !isProfile(profile)) {
    process.stdout.write(usage());
    process.exitCode = help ? 0 : 2;
    return;
  }
  const given = { port: Number(port), profile, faults: fault };
  const service = await startOperationsService({ ...given, indices: sampleIndices() });
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-'));
  const path = join(folder, 'token');
  writeFileSync(path, `${service.token}\n`, { mode: 0o600 });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      rmSync(folder, { recursive: true });
      process.exit(0);
    });
  }
  process.stdout.write(greeting(service.url, path, profile));
}

const isProfile = (name: string): name is ProfileName => profileNames.some((one) => one === name);

function greeting(url: string, tokenFile: string, profile: ProfileName): string {
  const cutoff = Date.now() - 90 * 86_400_000;
  return `Operations service at ${url}
  token file  ${tokenFile}
  profile     ${profile}: ${profileNamed(profile).summary}

A dry run:
  curl -s '${url}/operations?action=truncateTimeseriesAspect' \\
    -H "Authorization: Bearer $(cat ${tokenFile})" -H 'Content-Type: application/json' \\
    -d '{"entityType": "dataset", "aspect": "operation", "endTimeMillis": ${cutoff}}'

Ctrl-C ends it.
`;
}

function usage(): string {
  const column = (entries: [string, string][]) => entries.map(([name, summary]) => `  ${name.padEnd(28)}  ${summary}`);
  return `${[
    'npm run operations-service -- [--port N] [--profile NAME] [--fault NAME[=VALUE]]…',
    '',
    'Profiles:',
    ...column(profileNames.map((name) => [name, profileNamed(name).summary])),
    '',
    `Faults (SHARE is a number from 0 to 1, SCOPE one of ${scopes.join(', ')}):`,
    ...column(faults.map((fault) => [faultUsage(fault), fault.summary])),
  ].join('\n')}\n`;
}

main().catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = error instanceof FaultError ? 2 : 1;
});
