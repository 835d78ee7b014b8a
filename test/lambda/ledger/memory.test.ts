import { memoryLedger } from '../../../lambda/ledger/memory.ts';
import { aServer } from '../../support/records.ts';
import { ledgerContract } from './contract.ts';

ledgerContract('the ledger in memory', async () => {
  const ledger = memoryLedger();
  return {
    server: aServer,
    ledger: () => ledger,
    async plant(index, record) {
      ledger.stored.set(index, { server: aServer, index, ...record });
    },
  };
});
