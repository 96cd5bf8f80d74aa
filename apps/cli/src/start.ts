import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import {
  apiSettings,
  EXIT_CONFIG,
  loadEnvFile,
  portalSettings,
  readSettings,
  READY,
  workerSettings,
} from '@adoption-store/config';

/** Each is started once the one before it is there: what they print stays readable, and one of them makes the database. */
const SERVICES = ['api', 'portal', 'worker'];

judgeSettings();

const running: ChildProcess[] = [];
const ends: Promise<number>[] = [];
const stopping = new AbortController();

for (const name of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.on(name, stop);
for (const service of SERVICES) await start(service);
const codes = await Promise.all(ends);
process.exit(codes.find((code) => code !== 0) ?? 0);

/** Those of every service, before any of them has started. */
function judgeSettings(): void {
  try {
    loadEnvFile();
    readSettings({ ...apiSettings, ...portalSettings, ...workerSettings }, process.env);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(EXIT_CONFIG);
  }
}

/** Waits until the service is ready or has exited. */
async function start(service: string): Promise<void> {
  if (stopping.signal.aborted) return;
  const program = fileURLToPath(new URL(`../../${service}/dist/main.js`, import.meta.url));
  // By the channel the services notice when this process is killed.
  const child = spawn(process.execPath, [...process.execArgv, program], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  running.push(child);
  const end = endOf(service, child);
  ends.push(end);
  await Promise.race([end, untilReady(child)]);
}

async function untilReady(child: ChildProcess): Promise<void> {
  const [message] = (await once(child, 'message')) as unknown[];
  if (message !== READY) await untilReady(child);
}

/** Its exit code, as a shell counts signals. The others end with it. */
async function endOf(service: string, child: ChildProcess): Promise<number> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  // Else it has said itself why.
  if (signal !== null && !stopping.signal.aborted)
    console.error(`the ${service} was ended by ${signal}, so everything ends`);
  stop();
  // Told to stop before it could listen to that: nothing was open yet.
  if (signal === 'SIGINT' || signal === 'SIGTERM') return 0;
  return code ?? 128 + constants.signals[signal ?? 'SIGKILL'];
}

function stop(): void {
  stopping.abort();
  // As by Ctrl-C, which is what it mostly is: nothing stands before them that would need time to turn away.
  for (const child of running) child.kill('SIGINT');
}
