import type { Reply } from '../../operations-service/simulation/exchange.ts';
import type { Answer, Stage, Status } from './stage.ts';

/** The part of a stage that is the same on both engines: the requests over the wire. */

type Asking = Pick<Stage, 'cutoff' | 'truncate' | 'status' | 'statusText' | 'sizes' | 'counts'>;

interface Asked {
  token: string;
  handle(request: {
    method: string;
    path: string;
    headers: Record<string, string>;
    body: string;
  }): Reply | Promise<Reply>;
}

export function asking(service: Asked, cutoff: number): Asking {
  const ask = async (action: string, body: object): Promise<Answer & { value: unknown }> => {
    const reply = await service.handle({
      method: 'POST',
      path: `/operations?action=${action}`,
      headers: { authorization: `Bearer ${service.token}` },
      body: JSON.stringify(body),
    });
    if (reply.kind !== 'reply') throw new Error(`the connection: ${reply.kind}`);
    const { value, message } = JSON.parse(reply.body) as { value?: unknown; message?: string };
    return { status: reply.status, text: message ?? String(value), value };
  };
  const fields = { entityType: 'dataset', aspect: 'operation', endTimeMillis: cutoff };
  const truncate = (given: Record<string, unknown> = {}) =>
    ask('truncateTimeseriesAspect', { ...fields, dryRun: false, batchSize: 500, forceDeleteByQuery: true, ...given });
  const statusText = async (task: string) => (await ask('getEsTaskStatus', { task })).text;
  return {
    cutoff,
    truncate,
    statusText,
    status: async (task) => statusIn(await statusText(task)),
    async sizes() {
      const { indexSizes } = (await ask('getIndexSizes', {})).value as { indexSizes: Sizes };
      return indexSizes.map(({ indexName, sizeInMb }) => ({ name: indexName, megabytes: sizeInMb }));
    },
    async counts() {
      const { text } = await truncate({ dryRun: true });
      const [, matching, total] = /^Delete (\d+) out of (\d+) rows/.exec(text) ?? [];
      return { matching: Number(matching), total: Number(total) };
    },
  };
}

type Sizes = { indexName: string; sizeInMb: number }[];

function statusIn(text: string): Status {
  const outer = JSON.parse(text) as { completed: boolean; status: string };
  return { completed: outer.completed, ...(JSON.parse(outer.status) as Omit<Status, 'completed'>) };
}
