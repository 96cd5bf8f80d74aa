import { ConfigError, EXIT_CONFIG, loadEnvFile, readSettings, storeSettings } from '@adoption-store/config';
import { openDatabase } from '@adoption-store/embedded-postgres';
import { openInfrastructure } from '@adoption-store/infrastructure';

// The services migrate at their start too. As a separate job, a failed migration stops a rollout before it begins.
try {
  loadEnvFile();
  const settings = readSettings(storeSettings, process.env);
  const { DATABASE_URL: databaseUrl, DATABASE_DIRECT_URL: directDatabaseUrl, DATA_DIR: dataDirectory } = settings;
  const database = await openDatabase({ databaseUrl, dataDirectory });
  const { close } = await openInfrastructure({ ...database, directDatabaseUrl, poolSize: 1, onEvent: console.error });
  await close();
  console.log('The schema is up to date.');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof ConfigError ? EXIT_CONFIG : 1;
}
