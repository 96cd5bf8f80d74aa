import { readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import {
  at,
  entriesAt,
  hasTimeToEnd,
  isPinned,
  missingMounts,
  readYaml,
  type Tree,
  treesAt,
  unknownSettings,
  unmet,
} from './deployment.js';
import { dockerfileFaults } from './dockerfile.js';

/** Services that may be reached from outside. */
const PUBLISHED = ['proxy', 'grafana'];
/** Services that identify clients by address, which only the proxy can tell them. */
const BEHIND_PROXY = /^adoption-store-(?:api|portal):/;
/** Networks without a way out. */
const INTERNAL = ['inside', 'monitoring'];
/** Those that hold data, and have no way out. */
const INSIDE = ['postgres', 'redis', 'prometheus', 'migrate', 'keys', 'backup'];

type Environment = Readonly<Record<string, string>>;

/** The unmet expectations of a compose file, one sentence each. */
export function composeFaults(file: string, dockerfile: string): string[] {
  const compose = readYaml(file);
  const services = entriesAt(compose, 'services');
  const text = readFileSync(file, 'utf8');
  const defaults = [...text.matchAll(/\$\{(\w*PASSWORD)(?!:\?)/g)].map(([, name]) => name);
  const demanded = [...text.matchAll(/\$\{(?!\w*PASSWORD)(\w+):?\?/g)].map(([, name]) => name);
  return [
    ...services.flatMap(([name, service]) => serviceFaults(file, name, service)),
    ...services.flatMap(([name, service]) => dependencyFaults(name, service, services)),
    ...services
      .filter(([, service]) => isOurs(service))
      .flatMap(([name, service]) => ourFaults(name, service, compose)),
    ...unmet('redis', { 'keeps its counts': keepsCounts(at(compose, 'services.redis')) }),
    ...entriesAt(compose, 'networks')
      .filter(([name]) => INTERNAL.includes(name))
      .flatMap(([name, network]) => unmet(`the ${name} network`, { 'has no way out': network['internal'] === true })),
    ...unmet('the proxy', { 'keeps its metrics inside': keepsMetrics(at(compose, 'services.proxy')) }),
    ...unmet('the outside network', { 'leaves the proxy its address': isReserved(compose) }),
    ...defaults.map((name) => `${name} is not demanded`),
    ...demanded.map((name) => `${name} is demanded, which the services do without`),
    ...dockerfileFaults(readFileSync(dockerfile, 'utf8')),
  ];
}

function serviceFaults(file: string, name: string, service: Tree): string[] {
  const limits = (at(service, 'deploy.resources.limits') ?? {}) as Tree;
  const networks = Array.isArray(service['networks']) ? service['networks'] : Object.keys(service['networks'] ?? {});
  const volumes = (service['volumes'] ?? []) as readonly string[];
  return [
    ...unmet(name, {
      'has a pinned image': isPinned(service['image']),
      'has a read-only root file system': service['read_only'] === true,
      'has no capabilities': String(service['cap_drop']) === 'ALL' && service['cap_add'] === undefined,
      'gains no privileges': String(service['security_opt']).includes('no-new-privileges:true'),
      'is not root': isOurs(service) || !/^(?:root|0|undefined)(?::|$)/.test(String(service['user'])),
      'has limits': ['cpus', 'memory', 'pids'].every((limit) => limits[limit] !== undefined),
      'is published': PUBLISHED.includes(name) === (service['ports'] !== undefined),
      'stays inside': !INSIDE.includes(name) || networks.every((network) => INTERNAL.includes(String(network))),
      'tells its health': isOurs(service) || isOneShot(service) || at(service, 'healthcheck.test') !== undefined,
    }),
    ...missingMounts(file, volumes).map((path) => `${name} mounts ${path}, which is not there`),
  ];
}

/** A service must wait until its dependencies are ready, not only started. */
function dependencyFaults(name: string, service: Tree, services: readonly (readonly [string, Tree])[]): string[] {
  return entriesAt(service, 'depends_on').flatMap(([needed, { condition }]) => {
    const target = services.find(([each]) => each === needed)?.[1];
    const wanted = target !== undefined && isOneShot(target) ? 'service_completed_successfully' : 'service_healthy';
    return unmet(name, { [`waits for ${needed}`]: target !== undefined && condition === wanted });
  });
}

function ourFaults(name: string, service: Tree, compose: Tree): string[] {
  const environment = (service['environment'] ?? {}) as Environment;
  const grace = Number.parseInt((service['stop_grace_period'] as string | undefined) ?? '10s', 10);
  const proxy = at(compose, 'services.proxy.networks.outside.ipv4_address');
  return [
    ...unknownSettings(Object.keys(environment)).map((each) => `${name} has ${each}, which no app reads`),
    ...unmet(name, {
      'has time to end': isOneShot(service) || hasTimeToEnd(grace, environment),
      'believes the proxy alone':
        environment['TRUST_PROXY'] === (BEHIND_PROXY.test(String(service['image'])) ? proxy : undefined),
    }),
  ];
}

/** Containers that start before the proxy must not be able to get its address. */
function isReserved(compose: Tree): boolean {
  const [range] = treesAt(compose, 'networks.outside.ipam.config') as readonly Environment[];
  const [network = '', prefix] = (range?.['ip_range'] ?? range?.['subnet'] ?? '0.0.0.0/0').split('/');
  const given = new BlockList();
  given.addSubnet(network, Number(prefix));
  return !given.check(String(at(compose, 'services.proxy.networks.outside.ipv4_address')));
}

function keepsCounts(redis: unknown): boolean {
  const command = String(at(redis, 'command'));
  return command.includes('--appendonly yes') && command.includes('--maxmemory-policy noeviction');
}

/** No published port is that of its metrics. */
function keepsMetrics(proxy: unknown): boolean {
  const address = String(at(proxy, 'environment.PROXY_METRICS_ADDRESS'));
  const ports = (at(proxy, 'ports') ?? []) as readonly string[];
  return !ports.some((port) => port.endsWith(address));
}

function isOurs({ image }: Tree): boolean {
  return String(image).startsWith('adoption-store-');
}

function isOneShot({ restart }: Tree): boolean {
  return restart === 'no' || String(restart).startsWith('on-failure');
}
