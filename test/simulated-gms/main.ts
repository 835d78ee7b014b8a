import { parseArgs } from 'node:util';
import { greet } from '../../cli/embedded-service/greeting.ts';
import { sampleIndices } from '../../cli/embedded-service/samples.ts';
import { FaultError, faults, faultUsage, scopes } from './faults.ts';
import { type ProfileName, profileNamed, profileNames } from './profiles.ts';
import { startSimulatedGms } from './server.ts';

/** `npm run simulated-gms -- [--port N] [--profile NAME] [--fault NAME[=VALUE]]…`: a simulated DataHub, until Ctrl-C. */

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const options = { port: text, profile: text, fault: { ...text, multiple: true }, help: { type: 'boolean' } } as const;
  const { port = '0', profile = 'newest', fault = [], help } = parseArgs({ options }).values;
  if (help || !isProfile(profile)) {
    process.stdout.write(usage());
    process.exitCode = help ? 0 : 2;
    return;
  }
  const given = { port: Number(port), profile, faults: fault };
  const service = await startSimulatedGms({ ...given, indices: sampleIndices() });
  greet(service, `${profile} (${profileNamed(profile).summary})`);
}

const isProfile = (name: string): name is ProfileName => profileNames.some((one) => one === name);

function usage(): string {
  const column = (entries: [string, string][]) => entries.map(([name, summary]) => `  ${name.padEnd(28)}  ${summary}`);
  return `${[
    'npm run simulated-gms -- [--port N] [--profile NAME] [--fault NAME[=VALUE]]…',
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
