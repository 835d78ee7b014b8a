import { Client } from '@opensearch-project/opensearch';
import { checkProduct, EngineError, readEngineAddress } from '../../operations-service/opensearch/address.ts';
import type { TestEngine } from './node.ts';

/**
 * An existing search engine (`OPENSEARCH_URL`; a container, for instance): on this machine, and empty, because the tests
 * delete indices. It is left as it was.
 * @throws EngineError
 */
export async function useGiven(text: string): Promise<TestEngine> {
  const address = readEngineAddress(text);
  const client = new Client({ node: address.href, maxRetries: 0 });
  try {
    await checkProduct(client, address);
    const { body } = await client.cat.indices({ format: 'json', expand_wildcards: 'all' });
    const all = (body as { index?: string }[]).flatMap(({ index }) => index ?? []);
    const names = all.filter((name) => !name.startsWith('.'));
    if (names.length > 0) {
      throw new EngineError(
        `The search engine at ${address.host} holds indices (${names.slice(0, 3).join(', ')}): these tests want an empty one.`,
      );
    }
    const { body: before } = await client.cluster.getSettings({ flat_settings: true });
    // Its own disk monitor would remove the block with which the tests simulate a full disk.
    await client.cluster.putSettings({
      body: { transient: { 'cluster.routing.allocation.disk.threshold_enabled': false } } as never,
    });
    return {
      address: address.href,
      // We would not notice; a case that finds it gone fails.
      died: new Promise<never>(() => {}),
      async stop() {
        const key = 'cluster.routing.allocation.disk.threshold_enabled';
        const was = (before.transient as Record<string, unknown> | undefined)?.[key] ?? null;
        await client.cluster.putSettings({ body: { transient: { [key]: was } } as never });
        // The search engine's own index of ended tasks; if there was none before, it holds only our tasks.
        if (!all.includes('.tasks')) await client.indices.delete({ index: '.tasks', ignore_unavailable: true });
        await client.close();
      },
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}
