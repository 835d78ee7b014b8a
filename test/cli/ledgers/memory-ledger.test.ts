import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import { ledgerContract } from '../../support/ledger-contract.ts';

ledgerContract('The ledger in memory', async () => {
  const ledger = memoryLedger();
  return {
    ledger: () => ledger,
    async plant(index, record) {
      ledger.stored.set(index, record);
    },
  };
});
