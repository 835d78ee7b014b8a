import { memoryLedger } from '../../../lambda/ledger/memory.ts';
import { ledgerContract } from './contract.ts';

ledgerContract('the ledger in memory', async () => {
  const ledger = memoryLedger();
  return {
    ledger: () => ledger,
    async plant(index, record) {
      ledger.stored.set(index, record);
    },
  };
});
