/** For suites and benchmarks: a server with settings of their own, and one that they may harm. */
export { prepareCluster } from './cluster.js';
export { type EmbeddedPostgres, openEmbeddedPostgres } from './embedded-postgres.js';
export { startServer } from './server.js';
