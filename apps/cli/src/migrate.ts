import { ConfigError, EXIT_CONFIG, loadEnvFile, readSettings, storeSettings } from '@adoption-store/config';
import { openDatabase } from '@adoption-store/embedded-postgres';
import { openInfrastructure } from '@adoption-store/infrastructure';

// Services do this when they start, too. As a job of its own it fails before a rollout has begun, not within it.
try {
  loadEnvFile();
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDirectory } = readSettings(storeSettings, process.env);
  const database = await openDatabase({ databaseUrl, dataDirectory });
  const { close } = await openInfrastructure({ ...database, poolSize: 1 });
  await close();
  console.log('The schema is up to date.');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof ConfigError ? EXIT_CONFIG : 1;
}
