/** The search engines that these tests can start, and what differs between their launchers. */
export interface EngineKind {
  /** For people: `OpenSearch 2.19.1`. */
  title: string;
  /** In the names of its jars, its Java packages and its settings. */
  name: 'opensearch' | 'elasticsearch';
  version: string;
  log4j: string;
  leastJava: number;
  /** How a node of this version takes its modules; the folder of a launcher's class. */
  modulesBy: 'by-class' | 'by-info';
  modules: readonly [http: string, byQuery: string];
}

export const engineKinds = {
  'opensearch-2': {
    title: 'OpenSearch 2.19.1',
    name: 'opensearch',
    version: '2.19.1',
    log4j: '2.21.0',
    leastJava: 17,
    modulesBy: 'by-class',
    modules: ['org.opensearch.transport.Netty4Plugin', 'org.opensearch.index.reindex.ReindexPlugin'],
  },
  'opensearch-3': {
    title: 'OpenSearch 3.3.0',
    name: 'opensearch',
    version: '3.3.0',
    log4j: '2.21.0',
    leastJava: 21,
    modulesBy: 'by-info',
    modules: ['org.opensearch.transport.Netty4ModulePlugin', 'org.opensearch.index.reindex.ReindexModulePlugin'],
  },
  'elasticsearch-7': {
    title: 'Elasticsearch 7.17.20',
    name: 'elasticsearch',
    version: '7.17.20',
    log4j: '2.17.1',
    leastJava: 17,
    modulesBy: 'by-class',
    modules: ['org.elasticsearch.transport.Netty4Plugin', 'org.elasticsearch.reindex.ReindexPlugin'],
  },
} as const satisfies Record<string, EngineKind>;

export type EngineName = keyof typeof engineKinds;

export const engineNames = Object.keys(engineKinds) as EngineName[];
