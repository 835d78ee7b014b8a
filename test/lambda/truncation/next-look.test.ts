import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundSeconds, firstLookSeconds, isDue, planLook, refreshLook } from '../../../lambda/truncation/next-look.ts';
import type { OwnTask } from '../../../lambda/truncation/own-task.ts';
import { fold, type Watch } from '../../../lambda/truncation/watch.ts';

const day = 86_400;

const aWatch = (fields: Partial<Watch> = {}): Watch => ({
  attemptId: 'attempt-1',
  startedAt: 0,
  succeededAt: 0,
  lastLookAt: 0,
  nextLookAt: firstLookSeconds * 1000,
  looks: 0,
  ...fields,
});

/** The watch after a look that saw the task's own counters. */
function progressed(watch: Watch, done: number, total: number, at: number): Watch {
  const task: OwnTask = { completed: false, counters: { deleted: done, total }, does: 'delete' };
  const sighting = { at, seenAt: at, realAt: at, task };
  const watched = { mayHaveCopied: false, rowsToDelete: total, rowsKept: 0, judgeableAt: 0, isLastLook: false };
  return fold(watch, sighting, { ...watched, longestStill: day * 1000 }).watch;
}

/** What a task shows at one look, and how much time passes before the look besides the Wait. */
interface Sight {
  /** Rows done, of a million; undefined if the look fails or shows no counters. */
  done: number | undefined;
  total: number;
  overheadSeconds: number;
}

/** Looks at one task as Poll does, until it has run for this many seconds. */
function looksDuring(seconds: number, see: (at: number) => Sight): { intervals: number[][] } {
  let watch = aWatch();
  const intervals: number[][] = [];
  let now = 0;
  let wait = firstLookSeconds;
  while (now < seconds * 1000) {
    const since = now;
    const { overheadSeconds } = see(now);
    now += (wait + overheadSeconds) * 1000;
    intervals.push([since / 1000, (now - since) / 1000]);
    const { done, total } = see(now);
    if (done !== undefined) watch = progressed(watch, done, total, now);
    const plan = planLook(watch, now);
    if (plan.early) watch = { ...watch, earlyLooks: (watch.earlyLooks ?? 0) + 1 };
    wait = plan.seconds;
  }
  return { intervals };
}

/** Any progress: growing, stalled, falling back, jumping, absent, complete without an end. */
const anyProgress = fc
  .array(
    fc.record({
      done: fc.option(fc.oneof(fc.integer({ min: 0, max: 1_000_000 }), fc.constantFrom(0, 999_999, 1_000_000)), {
        nil: undefined,
      }),
      total: fc.constantFrom(1_000_000, 1_000_000, 500_000, 0),
      overheadSeconds: fc.double({ min: 0.1, max: 1, noNaN: true }),
    }),
    { minLength: 1, maxLength: 150 },
  )
  .map((sights) => {
    let asked = 0;
    return (): Sight => sights[asked++ % sights.length]!;
  });

/** The worst task: it always looks as if it would be done by the next look. */
const alwaysNearlyDone =
  (overheadSeconds: number) =>
  (at: number): Sight => ({ done: Math.round(at), total: Math.round(at * 1.005) + 1, overheadSeconds });

describe('the guarantee', () => {
  it('is 10 s for a young task, a tenth of the time run for an older one, 30 min for an old one', () => {
    expect([0, 60, 100, 600, 3600, 5 * 3600, day].map(boundSeconds)).toEqual([10, 10, 10, 60, 360, 1800, 1800]);
  });

  it('is kept by every plan, for any progress of the task', () => {
    const progress = fc.option(
      fc.record({
        done: fc.integer({ min: 0, max: 2_000_000 }),
        total: fc.integer({ min: 0, max: 1_000_000 }),
        at: fc.integer({ min: 0, max: 3 * day * 1000 }),
        previous: fc.option(
          fc.record({
            done: fc.integer({ min: 0, max: 2_000_000 }),
            at: fc.integer({ min: 0, max: 3 * day * 1000 }),
          }),
          { nil: undefined },
        ),
      }),
      { nil: undefined },
    );
    fc.assert(
      fc.property(progress, fc.integer({ min: 0, max: 3 * day * 1000 }), fc.nat(5), (shown, now, earlyLooks) => {
        const watch = aWatch({ earlyLooks, ...(shown && { progress: shown as NonNullable<Watch['progress']> }) });
        const { seconds } = planLook(watch, now);
        expect(Number.isInteger(seconds)).toBe(true);
        expect(seconds).toBeGreaterThanOrEqual(2);
        expect(seconds).toBeLessThan(boundSeconds(now / 1000));
      }),
    );
  });

  it('is kept on the wall clock for a day, with up to a second spent between waits', () => {
    fc.assert(
      fc.property(anyProgress, (see) => {
        for (const [since, interval] of looksDuring(day, see).intervals) {
          expect(interval!).toBeLessThanOrEqual(boundSeconds(since!) + 1e-6);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('is shorter while a task is young: the next look is no further away than the task is old', () => {
    expect([0, 5, 6, 8, 9, 60].map((seconds) => planLook(aWatch(), seconds * 1000).seconds)).toEqual([
      5, 5, 6, 8, 9, 9,
    ]);
  });

  it('leaves time to start a look: a second at least, a fiftieth of the wait, 15 seconds at most', () => {
    expect([100, 3600, 5 * 3600, day].map((seconds) => planLook(aWatch(), seconds * 1000).seconds)).toEqual([
      9, 352, 1785, 1785,
    ]);
  });

  it('costs at most 110 looks for a day, for any progress of the task', () => {
    fc.assert(
      fc.property(anyProgress, (see) => {
        expect(looksDuring(day, see).intervals.length).toBeLessThanOrEqual(110);
      }),
      { numRuns: 60 },
    );
    expect(looksDuring(day, alwaysNearlyDone(0.1)).intervals.length).toBeLessThanOrEqual(110);
  });

  it('uses up its early looks on a task that is always nearly done, and then continues as without progress', () => {
    const without = looksDuring(day, () => ({ done: undefined, total: 0, overheadSeconds: 0.3 })).intervals.length;
    const nearlyDone = looksDuring(day, alwaysNearlyDone(0.3)).intervals.length;
    expect(nearlyDone).toBeGreaterThan(without);
    expect(nearlyDone - without).toBeLessThanOrEqual(3);
  });
});

describe('a prediction', () => {
  const shownAt = (minutes: number, share: number, more: Partial<Watch> = {}) => {
    const watch = progressed(aWatch(more), share * 1000, 1000, minutes * 60_000);
    return { watch, plan: planLook(watch, minutes * 60_000) };
  };

  it('moves the look to just after the predicted end', () => {
    // 98 % in 98 min: two minutes to go, where the guarantee alone would wait nine.
    const { plan } = shownAt(98, 0.98);
    expect(plan.early).toBe(true);
    expect(plan.seconds).toBeGreaterThanOrEqual(120);
    expect(plan.seconds).toBeLessThan(130);
  });

  it('changes nothing when the end is further away than the guarantee', () => {
    expect(shownAt(98, 0.5).plan).toEqual(planLook(aWatch(), 98 * 60_000));
  });

  it('follows the rate since the last look, so that a slow start is forgotten', () => {
    let watch = aWatch();
    watch = progressed(watch, 100, 1000, 90 * 60_000); // a tenth in 90 minutes,
    watch = progressed(watch, 900, 1000, 98 * 60_000); // and then a tenth each minute
    const { seconds, early } = planLook(watch, 98 * 60_000);
    expect(early).toBe(true);
    expect(seconds).toBeGreaterThanOrEqual(60);
    expect(seconds).toBeLessThan(70);
  });

  it('takes the average of the whole time where that is faster, so that a stall between two looks is forgotten', () => {
    let watch = aWatch();
    watch = progressed(watch, 970, 1000, 97 * 60_000);
    watch = progressed(watch, 971, 1000, 98 * 60_000);
    expect(planLook(watch, 98 * 60_000)).toMatchObject({ early: true, seconds: expect.closeTo(182, -1) });
  });

  it('falls back to the average of the whole time while a task stalls', () => {
    let watch = aWatch();
    watch = progressed(watch, 980, 1000, 97 * 60_000);
    watch = progressed(watch, 980, 1000, 98 * 60_000);
    expect(planLook(watch, 98 * 60_000)).toMatchObject({ early: true, seconds: expect.closeTo(125, -1) });
  });

  it('starts its estimate again when the counters go back', () => {
    let watch = aWatch();
    watch = progressed(watch, 900, 1000, 97 * 60_000);
    watch = progressed(watch, 100, 1000, 98 * 60_000);
    expect(watch.progress).not.toHaveProperty('previous');
    expect(planLook(watch, 98 * 60_000).early).toBe(false);
  });

  it('that equals the guarantee is not used', () => {
    // 558 s to go at 98 minutes: 3 % and a second more is the 576 s of the guarantee.
    const at = 98 * 60_000;
    expect(planLook(progressed(aWatch(), 588_000, 643_800, at), at)).toEqual({ seconds: 576, early: false });
    expect(planLook(progressed(aWatch(), 588_000, 643_600, at), at)).toEqual({ seconds: 574, early: true });
  });

  it('is not made from two looks at one moment', () => {
    const at = 98 * 60_000;
    for (const before of [500, 980]) {
      const twice = progressed(progressed(aWatch(), before, 1000, at), 980, 1000, at);
      expect(planLook(twice, at)).toMatchObject({ early: true, seconds: 125 });
    }
  });

  it('is not made from counters at zero', () => {
    expect(shownAt(98, 0).plan.early).toBe(false);
  });

  it('is not made from a sliced task, whose counters say that all is done while it goes on', () => {
    let watch = aWatch();
    watch = progressed(watch, 333, 333, 98 * 60_000);
    expect(planLook(watch, 98 * 60_000).early).toBe(false);
  });

  it('counts from the time at which the rows were seen, when a later look failed', () => {
    let watch = aWatch();
    watch = progressed(watch, 950, 1000, 95 * 60_000);
    const { seconds } = planLook(watch, 97 * 60_000);
    expect(seconds).toBeGreaterThanOrEqual(180);
    expect(seconds).toBeLessThan(190);
  });

  it('is not made after three that were too early', () => {
    expect(shownAt(98, 0.98, { earlyLooks: 2 }).plan.early).toBe(true);
    expect(shownAt(98, 0.98, { earlyLooks: 3 }).plan).toEqual(planLook(aWatch(), 98 * 60_000));
  });

  it('never polls a task in a loop that is about to end', () => {
    const { plan } = shownAt(98, 0.9999);
    expect(plan.seconds).toBeGreaterThanOrEqual(98 * 60 * 0.002);
  });
});

describe('after the end', () => {
  const end = 1_000_000;

  it('looks every 10 s while a refresh may come, and no longer', () => {
    expect([0, 30, 79, 81, 85].map((seconds) => refreshLook(end, end + seconds * 1000))).toEqual([
      { seconds: 10, early: false },
      { seconds: 10, early: false },
      { seconds: 10, early: false },
      { seconds: 9, early: false },
      { seconds: 5, early: false },
    ]);
  });

  it('looks less and less often after that', () => {
    expect(refreshLook(end, end + 90_000).seconds).toBe(10);
    expect(refreshLook(end, end + 600_000).seconds).toBe(60);
  });
});

describe('several tasks', () => {
  it('share a look when they would fall close together', () => {
    const watch = aWatch({ lastLookAt: 1_000_000, nextLookAt: 1_100_000 });
    expect(isDue(watch, 1_074_000)).toBe(false);
    expect(isDue(watch, 1_075_000)).toBe(true);
    expect(isDue(watch, 1_100_000)).toBe(true);
  });

  it('do not multiply the turns of the loop: a hundred take at most three times those of one', () => {
    const alone = turnsOfADay([0]);
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: day }), { minLength: 1, maxLength: 100 }),
        fc.boolean(),
        (ages, young) => {
          expect(turnsOfADay(young ? [0, ...ages] : ages)).toBeLessThanOrEqual(alone * 3);
        },
      ),
      { numRuns: 50 },
    );
  });

  /** @param ages of the tasks when the watch begins, seconds */
  function turnsOfADay(ages: number[]): number {
    const watches = ages.map((age) =>
      aWatch({ startedAt: -age * 1000, nextLookAt: age === 0 ? firstLookSeconds * 1000 : (age % 60) * 1000 }),
    );
    let turns = 0;
    for (let now = 0; now < day * 1000; turns++) {
      now = Math.max(now + 1000, Math.min(...watches.map(({ nextLookAt }) => nextLookAt)) + 300);
      for (const watch of watches) {
        if (!isDue(watch, now)) continue;
        watch.lastLookAt = now;
        watch.nextLookAt = now + planLook(watch, now).seconds * 1000;
      }
    }
    return turns;
  }
});
