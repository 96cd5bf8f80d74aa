import { execFileSync } from 'node:child_process';
import { type Environment, Running, START, temporaryFolder } from '@adoption-store/test-support';
import { afterAll, afterEach, beforeEach } from '@jest/globals';
import { killAll, processesOf, servicesOf } from './process-list.js';
import { startApi as start } from './services.js';

type Folder = Awaited<ReturnType<typeof temporaryFolder>>;

const WORKER_READY = /^The worker is ready: .* health at (\S+)$/m;
/** Any free port for each service, so that suites can run beside each other. */
export const ANY_PORTS = {
  PORT: '0',
  HOST: '127.0.0.1',
  PORTAL_PORT: '0',
  PORTAL_HOST: '127.0.0.1',
  WORKER_PORT: '0',
  WORKER_HOST: '127.0.0.1',
};

/** Gives each test a data folder, and ends what it started. */
export function useStartedServices() {
  let folder: Folder | undefined;
  let started: Running[] = [];
  let served: (Folder & { readonly key: string }) | undefined;
  const path = () => folder?.path ?? '';

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(async () => {
    await Promise.all(started.map((service) => service.stop()));
    started = [];
    killAll([...servicesOf(path()).values(), ...processesOf(path())]);
    await folder?.remove();
  });

  afterAll(() => served?.remove());

  const track = (service: Running) => {
    started.push(service);
    return service;
  };

  /** The API, on the test's data folder. */
  const startApi = async (environment: Environment = {}) => {
    const started = await start({ DATA_DIR: path(), ...environment });
    track(started.service);
    return started;
  };

  return {
    get folder() {
      return path();
    },
    track,
    startApi,
    /** Runs everything in a process group of its own, as a terminal does. */
    async startAll() {
      const launcher = track(new Running(START, [], { DATA_DIR: path(), ...ANY_PORTS }, { detached: true }));
      const [, health = ''] = await launcher.prints(WORKER_READY);
      return { launcher, health, services: servicesOf(path()) };
    },
    /**
     * Gives the test a data folder that an API has already used. It is a copy, because PostgreSQL needs seconds to create
     * one.
     *
     * @returns the demo key.
     */
    async hasServed(): Promise<string> {
      if (served === undefined) {
        const { service } = await startApi();
        await service.stop();
        const copy = await temporaryFolder();
        execFileSync('cp', ['-a', `${path()}/.`, copy.path]);
        served = { ...copy, key: keyOf(service) };
      } else execFileSync('cp', ['-a', `${served.path}/.`, path()]);
      return served.key;
    },
  };
}

/** Runs the printed curl command, as a new user would. */
export function pasteCurl(service: Running): string {
  const line = /^ *(curl .*)$/m.exec(service.stderr)?.[1] ?? '';
  return execFileSync('bash', ['-c', line.replace('curl', 'curl -sS')], { encoding: 'utf8' });
}

/** The demo key that the API printed. */
export function keyOf(service: Running): string {
  return /aas_live_\w+/.exec(service.stderr)?.[0] ?? '';
}
