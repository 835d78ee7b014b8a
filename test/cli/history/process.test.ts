import { describe, expect, it, onTestFinished } from 'vitest';
import { nightsPath } from '../../../cli/files/ledger-path.ts';
import { fileNights } from '../../../lambda/memory/file.ts';
import { folder, run } from '../processes.ts';

const index = 'dataset_operationaspect_v1';

async function aLedger() {
  const files = folder((cleanUp) => onTestFinished(cleanUp));
  const ledger = files.at('in-flight.json');
  await fileNights(nightsPath(ledger)).write({ index, night: new Date().toISOString(), rows: 5 });
  return { ...files, ledger };
}

describe('history as a command', () => {
  it('prints only JSON on standard output, and the table on standard error', async () => {
    const { ledger } = await aLedger();
    const { status, stdout, stderr } = await run(['history', '--ledger', ledger, '--json', '-']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ indices: [{ index, nights: [{ rows: 5 }] }] });
    expect(stderr).toContain('dataset.operation');
  });

  it('ends with status 2 and one sentence for a wrong command line', async () => {
    const { status, stdout, stderr } = await run(['history', '--ledger', (await aLedger()).ledger, 'a.b']);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^No night of a\.b is remembered in .*; there are dataset\.operation\.\n$/);
  });

  it('ends with status 1 without credentials of AWS, and says how to get some', async () => {
    const nobody = { AWS_REGION: 'eu-central-1', AWS_EC2_METADATA_DISABLED: 'true', AWS_CONFIG_FILE: '/dev/null' };
    const { status, stderr } = await run(['history', '--stage', 'prod'], {
      ...nobody,
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/datahub-retention-prod-nights, cannot be read: there are no AWS credentials\. Sign in/);
  });
});
