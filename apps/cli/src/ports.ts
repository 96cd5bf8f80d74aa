import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { explainListenError, type ListenAddress } from '@adoption-store/config';

/** Every port that a service of `npm start` listens on. */
const PORTS = [
  { portSetting: 'PORT', hostSetting: 'HOST' },
  { portSetting: 'METRICS_PORT', hostSetting: 'METRICS_HOST' },
  { portSetting: 'PORTAL_PORT', hostSetting: 'PORTAL_HOST' },
  { portSetting: 'PORTAL_METRICS_PORT', hostSetting: 'METRICS_HOST' },
  { portSetting: 'WORKER_PORT', hostSetting: 'WORKER_HOST' },
] as const;

type PortSettings = Readonly<Record<(typeof PORTS)[number]['portSetting'], number>> &
  Readonly<Record<(typeof PORTS)[number]['hostSetting'], string>>;

interface Replacement {
  readonly taken: ListenAddress;
  readonly port: number;
}

/**
 * Finds a free port for each service before any of them starts. If a default port is taken (perhaps by a second clone
 * of the repository), a free one is used instead.
 *
 * @param isSet whether a setting was set. If so, its port must be free.
 * @throws Error with one sentence.
 */
export async function findPorts(
  settings: PortSettings,
  isSet: (name: string) => boolean,
): Promise<readonly Replacement[]> {
  const replacements: Replacement[] = [];
  // All ports are kept open until the end, so that no two services get the same one. Those that were set come first.
  const held: Server[] = [];
  const inOrder = [...PORTS].sort((one, other) => Number(isSet(other.portSetting)) - Number(isSet(one.portSetting)));
  try {
    for (const each of inOrder) {
      const where = { ...each, host: settings[each.hostSetting], port: settings[each.portSetting] };
      try {
        held.push(await listening(where.host, where.port));
      } catch (error) {
        if (isSet(each.portSetting) || !isTaken(error)) throw explainListenError(error, where);
        const server = await listening(where.host, 0);
        held.push(server);
        replacements.push({ taken: where, port: (server.address() as AddressInfo).port });
      }
    }
    return replacements;
  } finally {
    await Promise.all(held.map((server) => once(server.close(), 'close')));
  }
}

/** Closes what connects, such as a health check: `close` would wait for it. */
async function listening(host: string, port: number): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(port, host);
  await once(server, 'listening');
  return server;
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}
