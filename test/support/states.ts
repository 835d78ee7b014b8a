import { type Entry, type RunState, stateVersion } from '../../lambda/run/state.ts';

/** A run state, for tests. */
export const aRunState = (entries: Entry[], more: Partial<RunState> = {}): RunState => ({
  version: stateVersion,
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
