import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import {
  apiSettings,
  ConfigError,
  EXIT_CONFIG,
  loadEnvFile,
  localAddress,
  portalSettings,
  readSettings,
  takeNoArguments,
  tell,
  workerSettings,
} from '@adoption-store/config';
import { reasonOf } from '@adoption-store/domain';
import { printable } from './output.js';
import { findPorts } from './ports.js';

interface Service {
  readonly name: string;
  /** Of Node.js, then the program. */
  readonly command: readonly string[];
}

const repository = new URL('../../../', import.meta.url);

const USAGE = `Usage:
  npm start
      runs the API, the portal and the worker. It has no arguments. Its settings
      are environment variables: see docker/settings.md.
`;

takeNoArguments(USAGE);
await prepare();

const running: ChildProcess[] = [];
const ends: Promise<number>[] = [];
const stopping = new AbortController();

for (const name of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.on(name, stop);
// One after the other, so that their output stays readable and only one of them creates the database.
for (const service of services()) await start(service);
const codes = await Promise.all(ends);
process.exit(codes.find((code) => code !== 0) ?? 0);

/** Checks the settings of every service, and finds their ports, before any of them starts. */
async function prepare(): Promise<void> {
  try {
    loadEnvFile();
    // The worker needs the portal's address with SMTP_URL. It has a default here.
    const all = { ...apiSettings, ...workerSettings, ...portalSettings };
    const isSet = (name: string) => (process.env[name] ?? '') !== '';
    for (const { taken, port } of await findPorts(readSettings(all, process.env), isSet)) {
      process.env[taken.portSetting] = String(port);
      const reason = `port ${taken.port} of ${taken.host} is in use by another program`;
      tell(printable(`${reason}, so ${taken.portSetting} is ${port} until this ends`));
    }
    const { PORTAL_URL, PORTAL_HOST, PORTAL_PORT } = readSettings(all, process.env);
    // The reference page of the API links to the portal, and so do mails.
    if (PORTAL_PORT !== 0) process.env['PORTAL_URL'] = PORTAL_URL ?? localAddress(PORTAL_HOST, PORTAL_PORT);
  } catch (error) {
    tell(printable(reasonOf(error)));
    process.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
  }
}

/** The root's package.json has them: `start:api` ends in `exec node OPTIONS apps/api/dist/main.js`. */
function services(): readonly Service[] {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', repository), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  return Object.entries(scripts)
    .filter(([script]) => script.startsWith('start:'))
    .map(([script, command]) => ({
      name: script.replace('start:', ''),
      command: command.replace(/.* exec node /, '').split(' '),
    }));
}

async function start({ name, command }: Service): Promise<void> {
  if (stopping.signal.aborted) return;
  const options = command.slice(0, -1);
  const program = fileURLToPath(new URL(command.at(-1) ?? '', repository));
  // The services notice through the IPC channel when this process is killed.
  const child = spawn(process.execPath, [...process.execArgv, ...options, program], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  running.push(child);
  const exited = endOf(name, child);
  ends.push(exited);
  // Its only message says that it is ready.
  await Promise.race([exited, once(child, 'message')]);
}

/** Waits for the service's exit code, which is 128 + n for signal n, as in a shell. Then stops the other services. */
async function endOf(service: string, child: ChildProcess): Promise<number> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  // A service that exits without a signal has printed the reason itself.
  if (signal !== null && !stopping.signal.aborted) tell(`the ${service} was ended by ${signal}, so all services stop`);
  stop();
  // The signal arrived before the service could handle it; nothing was open yet.
  if (signal === 'SIGINT' || signal === 'SIGTERM') return 0;
  return code ?? 128 + constants.signals[signal ?? 'SIGKILL'];
}

function stop(): void {
  stopping.abort();
  // SIGINT, as for Ctrl-C: no load balancer is in front of these services, so they needn't wait for one.
  for (const child of running) child.kill('SIGINT');
}
