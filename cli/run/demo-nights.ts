import { fileNights } from '../../lambda/memory/file.ts';
import { MemoryError, type Nights, nightsInMemory } from '../../lambda/memory/night.ts';
import { UsageError } from '../command-line/usage-error.ts';
import { defaultLedgerPath, nightsPath } from '../files/ledger-path.ts';

/**
 * The memory of a demonstration, for which every night is the first. `history` finds what it writes; if it cannot be
 * written, the demonstration goes on without.
 */
export function demoNights(env: NodeJS.ProcessEnv): Nights {
  const own = nightsInMemory();
  const file = fileOf(env);
  return {
    read: own.read,
    async write(night) {
      await own.write(night);
      try {
        await file?.write(night);
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error;
      }
    },
  };
}

function fileOf(env: NodeJS.ProcessEnv): Nights | undefined {
  try {
    return fileNights(nightsPath(defaultLedgerPath(env, true)));
  } catch (error) {
    // No home folder.
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}
