import {
  ConfigError,
  EXIT_CONFIG,
  EXIT_OUTPUT,
  loadEnvFile,
  readSettings,
  storeSettings,
  takeNoArguments,
  tell,
} from '@adoption-store/config';
import { reasonOf } from '@adoption-store/domain';
import { openStore } from '@adoption-store/store';
import { failureToPrint, printable, surviveFailedWrites } from './output.js';

const USAGE = `Usage:
  npm run -s migrate
      brings the schema of DATABASE_URL up to date. It has no arguments.
`;

function complain(text: string): void {
  tell(printable(text));
}

takeNoArguments(USAGE);
surviveFailedWrites(process);
// The services also migrate when they start. As a job before a rollout, a failed migration prevents the rollout.
try {
  loadEnvFile();
  const settings = readSettings(storeSettings, process.env);
  const { close } = await openStore({ ...settings, DATABASE_POOL_SIZE: 1 }, complain);
  await close();
  const done = 'The schema is up to date.';
  const failure = await failureToPrint(`${done}\n`, process.stdout, 'what it lacks is above');
  if (failure !== undefined) {
    complain(`${done}\n${failure.message}`);
    process.exitCode = EXIT_OUTPUT;
  }
} catch (error) {
  complain(reasonOf(error));
  process.exitCode = error instanceof ConfigError ? EXIT_CONFIG : 1;
}
