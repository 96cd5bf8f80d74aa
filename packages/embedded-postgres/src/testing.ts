/** For tests and benchmarks that need their own settings, or a server that they can damage. */
export { prepareCluster } from './cluster.js';
export { type EmbeddedPostgres, openEmbeddedPostgres } from './embedded-postgres.js';
export { startServer } from './server.js';
