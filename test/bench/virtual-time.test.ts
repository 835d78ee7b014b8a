import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../../bench/simulation/virtual-time.ts';

describe('virtual time', () => {
  it('passes as far as the longest of those who sleep side by side', async () => {
    const time = new VirtualTime(1000);
    await Promise.all([time.sleep(300), time.sleep(86_400_000), time.sleep(20)]);
    expect(time.now()).toBe(86_401_000);
  });

  it('wakes in the order of time, also those who lie down again meanwhile', async () => {
    const time = new VirtualTime(0);
    const woken: string[] = [];
    const walk = async (name: string, millis: number) => {
      for (let step = 0; step < 3; step++) {
        await time.sleep(millis);
        woken.push(`${name} at ${time.now()}`);
      }
    };
    await Promise.all([walk('slow', 100), walk('quick', 40)]);
    expect(woken).toEqual(['quick at 40', 'quick at 80', 'slow at 100', 'quick at 120', 'slow at 200', 'slow at 300']);
  });

  it('adds up when one waits after the other', async () => {
    const time = new VirtualTime(0);
    await time.sleep(100);
    time.advance(900);
    await time.sleep(5);
    expect(time.now()).toBe(1005);
  });

  it('cannot be moved on past a sleeper', async () => {
    const time = new VirtualTime(0);
    const asleep = time.sleep(100);
    expect(() => time.advance(1)).toThrow('those who sleep');
    await asleep;
  });
});
