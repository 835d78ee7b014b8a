/**
 * The search engines that these tests can start, and what differs between their launchers: `name` is in the names of jars,
 * Java packages and settings; `modulesBy` is the folder of the class that gives a node of this version its two modules.
 */
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
} as const;

export type EngineName = keyof typeof engineKinds;

export const engineNames = Object.keys(engineKinds) as EngineName[];

export type EngineKind = (typeof engineKinds)[EngineName];
