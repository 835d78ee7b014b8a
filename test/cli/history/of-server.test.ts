import { expect, it, onTestFinished } from 'vitest';
import { nightsPath } from '../../../cli/files/ledger-path.ts';
import { nightsOfServer } from '../../../cli/history/of-server.ts';
import { fileLedger } from '../../../lambda/ledger/file.ts';
import { fileNights } from '../../../lambda/memory/file.ts';
import { anIdle, anIndex, aServer } from '../../support/records.ts';
import { folder } from '../processes.ts';

/** A ledger with a record for each of these servers, and one night next to it. */
async function ledgerOf(...servers: string[]): Promise<string> {
  const path = folder((cleanUp) => onTestFinished(cleanUp)).at('in-flight.json');
  const ledger = fileLedger(path);
  for (const [at, server] of servers.entries()) {
    await ledger.replace(undefined, anIdle({ index: `${anIndex}${at || ''}`, server }));
  }
  ledger.close();
  await fileNights(nightsPath(path)).write({ index: anIndex, night: new Date().toISOString(), rows: 5 });
  return path;
}

it('nights are shown only if their server is the one of the ledger', async () => {
  const nights = await nightsOfServer(await ledgerOf(aServer), aServer);
  expect(nights.get(anIndex)?.map(({ rows }) => rows)).toEqual([5]);
});

it.each([
  ['another server', ['http://other:8080']],
  ['two servers', [aServer, 'http://other:8080']],
  ['no server yet', []],
])('nights beside a ledger of %s are not shown', async (_name, servers) => {
  expect(await nightsOfServer(await ledgerOf(...servers), aServer)).toEqual(new Map());
});

it('no night is shown without a ledger, or beside a file that is not a ledger', async () => {
  const { at, write } = folder((cleanUp) => onTestFinished(cleanUp));
  expect(await nightsOfServer(at('none.json'), aServer)).toEqual(new Map());
  expect(await nightsOfServer(write('notes.json', 'my notes\n'), aServer)).toEqual(new Map());
});
