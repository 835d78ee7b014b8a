import { describe, expect, test } from 'vitest';
import { peerProblem } from '../../../infra/published/peer.ts';

const needed = '>=2.225.0 <3';

describe('The peer aws-cdk-lib', () => {
  test.each(['2.225.0', '2.225.1', '2.276.0', '2.1000.0'])('%s is taken', (version) => {
    expect(peerProblem(version, needed)).toBeUndefined();
  });

  test.each(['2.224.9', '2.180.0', '1.204.0', '3.0.0'])('%s is refused in one sentence with the remedy', (version) => {
    expect(peerProblem(version, needed)).toBe(
      `The construct needs aws-cdk-lib 2.225.0 or a later 2.x, and this app has ${version}: npm install aws-cdk-lib@^2.225.0 constructs@^10`,
    );
  });

  test('that is missing is asked for', () => {
    expect(peerProblem(undefined, needed)).toMatch(
      /^The construct needs aws-cdk-lib and constructs, which this app lacks: npm install /,
    );
  });
});
