import { type Entry, type RunState, STATE_VERSION } from '../../lambda/run/state.ts';

/** Step Functions ends an execution at 256 KiB, without any Catch; this leaves 48 KiB of it free. */
export const maxStateBytes = 208 * 1024;
export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** A run state, for tests. */
export const aRunState = (entries: Entry[], more: Partial<RunState> = {}): RunState => ({
  version: STATE_VERSION,
  runId: 'run-1',
  server: 'https://gms.example.com',
  stage: 'prod',
  mode: 'enforce',
  runStartMillis: Date.UTC(2026, 2, 1, 3, 30),
  next: 'wait',
  waitSeconds: 10,
  entries,
  notes: [],
  unmanagedIndices: [],
  releases: [],
  polls: 0,
  callsWithoutTask: 0,
  ...more,
});
