import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SampleIndex } from '../../cli/embedded-service/samples.ts';
import { type SimulatedGms, startSimulatedGms } from '../simulated-gms/server.ts';

/** The embedded service as pods reach it, at an address of its own and without saying that its data is a sample. */
export interface Gms {
  /** Of 127.0.0.0/8; the port is 8080, as in the chart's default. */
  address: string;
  service: SimulatedGms;
  /** The one that it takes; to be changed. */
  token: string;
  /** Puts its clock ahead, which ends its tasks. */
  passTime(millis: number): void;
  close(): Promise<void>;
}

export async function startGms(indices: readonly SampleIndex[]): Promise<Gms> {
  let ahead = 0;
  const service = await startSimulatedGms({ indices, clock: { now: () => Date.now() + ahead } });
  const front = createServer((asked, answer) => {
    const { method, url, headers } = asked;
    if (headers.authorization === `Bearer ${gms.token}`) headers.authorization = `Bearer ${service.token}`;
    const target = request(`${service.url}${url}`, { method, headers }, (answered) => {
      const { 'x-sample-data': _, ...rest } = answered.headers;
      answer.writeHead(answered.statusCode!, rest);
      answered.pipe(answer);
    });
    target.on('error', () => answer.destroy());
    asked.pipe(target);
  });
  // Another run of this test may be there.
  const address = `127.${1 + (process.pid >> 16)}.${(process.pid >> 8) & 255}.${1 + (process.pid & 127)}`;
  await new Promise<void>((resolve, reject) => {
    front.once('error', reject);
    front.listen(8080, address, resolve);
  });
  const gms: Gms = {
    address: (front.address() as AddressInfo).address,
    service,
    token: 'the-first-token',
    passTime(millis) {
      ahead += millis;
    },
    async close() {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
      await service.close();
    },
  };
  return gms;
}
