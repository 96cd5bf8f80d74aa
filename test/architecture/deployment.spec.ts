import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { folderOf } from '@adoption-store/test-support';
import { makeCertificate, OPENSSL } from '../support/certificate.js';
import { HAPROXY, PROXY_CONFIG } from '../support/proxy.js';
import { composeFaults } from './compose.js';
import { at, entriesAt, isPinned, readYaml, resourcesOf, type Tree, treesAt } from './deployment.js';
import { healthChecksOf } from './dockerfile.js';
import { fieldFaults } from './kubernetes-fields.js';
import { kubernetesFaults } from './kubernetes.js';
import { fixtures, repository } from './trees.js';

const docker = join(repository, 'docker');
const bad = join(fixtures, 'deployment');

describe('the compose file and the images', () => {
  it('meet every expectation', () => {
    expect(composeFaults(join(docker, 'compose.yaml'), join(docker, 'Dockerfile'))).toEqual([]);
  });

  it('fail each expectation if a fixture breaks it', () => {
    expect(composeFaults(join(bad, 'compose.yaml'), join(bad, 'Dockerfile'))).toEqual([
      'postgres has a pinned image',
      'postgres has a read-only root file system',
      'postgres has no capabilities',
      'postgres gains no privileges',
      'postgres is not root',
      'postgres has limits',
      'postgres is published',
      'postgres stays inside',
      'postgres tells its health',
      'postgres mounts ./missing.conf, which is not there',
      'api has a pinned image',
      'api waits for postgres',
      'api waits for migrate',
      'api has HOTS, which no app reads',
      'api has time to end',
      'api believes the proxy alone',
      'redis keeps its counts',
      'the inside network has no way out',
      'the proxy keeps its metrics inside',
      'the outside network leaves the proxy its address',
      'POSTGRES_PASSWORD is not demanded',
      'PORTAL_SECRET is demanded, which the services do without',
      'the Dockerfile has pinned images',
      'the Dockerfile starts from them alone',
      'the Dockerfile is not root',
      'the Dockerfile lets signals reach Node.js',
      'the Dockerfile asks for readiness',
      'the Dockerfile compiles on the platform of the builder, and runs on any',
      'the Dockerfile has the version of package.json',
      'the Dockerfile has its labels',
      'the Dockerfile lists the packages of each image',
      'the Dockerfile has HOTS, which no app reads',
    ]);
  });
});

describe('the compose file of the failover', () => {
  const base = readYaml(join(docker, 'compose.yaml'));
  const failover = readYaml(join(docker, 'compose.failover.yaml'));
  const members = ['postgres', 'postgres-2', 'postgres-3'];
  const urlsOf = (compose: Tree) =>
    Object.fromEntries(
      entriesAt(compose, 'services').flatMap(([name, service]) => {
        const url = at(service, 'environment.DATABASE_URL') as string | undefined;
        return url === undefined ? [] : [[name, url.replace(/@.*/, '@')]];
      }),
    );

  it('gives each service the address of each server, with the role that it has without', () => {
    expect(urlsOf(failover)).toEqual(urlsOf(base));
    const text = readFileSync(join(docker, 'compose.failover.yaml'), 'utf8');
    const hosts = [...text.matchAll(/ DATABASE_URL: .*@(.*)$/gm)].map(([, rest]) => rest);
    expect([...new Set(hosts)]).toEqual([`${members.join()}/store?target_session_attrs=read-write`]);
  });

  it.each(members)('names %s by the name under which the others reach it', (name) => {
    const service = at(failover, `services.${name}`);
    expect(at(service, 'environment')).toMatchObject({
      PATRONI_NAME: name,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${name}:5432`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `${name}:8008`,
    });
  });

  it('pins its images, and hardens what compose.yaml does not have', () => {
    for (const [name, service] of entriesAt(failover, 'services')) {
      if (at(base, `services.${name}`) !== undefined) continue;
      expect([name, isPinned(service['image']), service['read_only'], service['cap_drop']]).toEqual([
        name,
        true,
        true,
        ['ALL'],
      ]);
    }
    const [, postgres = ''] = /^ARG POSTGRES_IMAGE=(.*)$/m.exec(readFileSync(join(docker, 'Dockerfile'), 'utf8')) ?? [];
    expect(readFileSync(join(docker, 'patroni/Dockerfile'), 'utf8')).toContain(`ARG POSTGRES_IMAGE=${postgres}\n`);
  });
});

describe('the overlay with CloudNativePG', () => {
  const resources = resourcesOf(join(docker, 'kubernetes/overlays/cloudnative-pg'));
  const cluster = resources.find(({ kind }) => kind === 'Cluster');

  it('loses no acknowledged commit in a failover', () => {
    expect(at(cluster, 'spec.instances')).toBeGreaterThanOrEqual(3);
    expect(at(cluster, 'spec.postgresql.synchronous')).toMatchObject({ number: 1, dataDurability: 'required' });
    expect(isPinned(at(cluster, 'spec.imageName'))).toBe(true);
  });

  it('lets the store, the operator and the instances reach the instances', () => {
    const policies = resources.filter(({ kind }) => kind === 'NetworkPolicy');
    const labels = JSON.stringify({ 'cnpg.io/cluster': at(cluster, 'metadata.name') });
    expect(policies.filter((each) => JSON.stringify(at(each, 'spec.podSelector.matchLabels')) === labels)).toHaveLength(
      1,
    );
    const ours = resources.filter(({ apiVersion }) => !String(apiVersion).startsWith('postgresql.cnpg.io/'));
    expect(fieldFaults(ours)).toEqual([]);
  });
});

describe('the health check of an image', () => {
  const checks = healthChecksOf(readFileSync(join(docker, 'Dockerfile'), 'utf8'));

  it('is there for each service', () => {
    expect(checks.map(({ app, setting }) => [app, setting])).toEqual([
      ['api', 'PORT'],
      ['portal', 'PORTAL_PORT'],
      ['worker', 'WORKER_PORT'],
    ]);
  });

  it.each(checks)('passes while /readyz is 200, and no longer: $app', async ({ args, setting }) => {
    let status = 200;
    const server = createServer(({ url }, response) => response.writeHead(url === '/readyz' ? status : 404).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const env = { [setting]: String((server.address() as AddressInfo).port) };
    const code = async () =>
      (await once(spawn(process.execPath, args, { env, stdio: 'ignore' }), 'exit'))[0] as unknown;
    expect(await code()).toBe(0);
    status = 503;
    expect(await code()).toBe(1);
    await once(server.close(), 'close');
    expect(await code()).toBe(1);
  });
});

describe('the API', () => {
  it('has the same Node.js flags in each script, in its image and in its unit', () => {
    const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<'start' | 'start:api', string>>;
    };
    const [, image] =
      /^CMD \[(.*), "apps\/api\/dist\/main.js"\]$/m.exec(readFileSync(join(docker, 'Dockerfile'), 'utf8')) ?? [];
    const flags = ['--no-allocation-site-pretenuring'];
    for (const script of [scripts.start, scripts['start:api']]) {
      expect(/ node (--.*) apps\//.exec(script)?.[1]?.split(' ')).toEqual(flags);
    }
    expect(JSON.parse(`[${image ?? ''}]`)).toEqual(flags);
    const unit = readFileSync(join(docker, 'systemd/adoption-store-api@.service'), 'utf8');
    expect(/^ExecStart=\/usr\/bin\/node (.*) apps\//m.exec(unit)?.[1]?.split(' ')).toEqual(flags);
  });
});

(HAPROXY === undefined || OPENSSL === undefined ? describe.skip : describe)('HAProxy', () => {
  const addresses = { PROXY_ADDRESS: ':1', PROXY_TLS_ADDRESS: ':2', PROXY_METRICS_ADDRESS: ':3' };
  const servers = { API_1: '127.0.0.1:4', API_2: '127.0.0.1:5', PORTAL: '127.0.0.1:6' };

  function check(settings: Readonly<Record<string, string>>) {
    const env = { ...addresses, ...servers, ...settings };
    return spawnSync(join(HAPROXY ?? '', 'haproxy'), ['-c', '-dW', '-f', PROXY_CONFIG], { env, encoding: 'utf8' });
  }

  it.each([
    ['as it is', {}],
    ['as compose starts it', { TLS_CERTIFICATE: '', PORTAL_URL: '', FRONT_PROXY: '192.0.2.1' }],
    ['with the portal', { PORTAL_URL: 'https://portal.example.com/' }],
    ['behind another proxy', { FRONT_PROXY: '10.0.0.1' }],
  ])('finds no fault and no warning in its configuration %s', (_how, settings) => {
    expect(check(settings)).toMatchObject({ status: 0 });
  });

  it('finds no fault and no warning in its configuration with a certificate, and one where that is missing', () => {
    const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
    try {
      const file = join(folder, 'store.pem');
      expect(check({ TLS_CERTIFICATE: file })).toMatchObject({ status: 1 });
      writeFileSync(file, makeCertificate(folder).pem);
      expect(check({ TLS_CERTIFICATE: file })).toMatchObject({ status: 0 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the Kubernetes manifests', () => {
  it('meet every expectation', () => {
    expect(kubernetesFaults(join(docker, 'kubernetes/overlays/production'))).toEqual([]);
  });

  it('fail each expectation if a fixture breaks it', () => {
    expect(kubernetesFaults(join(bad, 'kubernetes'))).toEqual([
      'api is not root',
      'api has the seccomp profile',
      "api has no token of the cluster's",
      'api has a read-only root file system',
      'api has no capabilities',
      'api gains no privileges',
      'api has requests and limits',
      'api has a pinned image',
      'backup has a pinned image',
      'backup runs one at a time',
      'backup has the role that owns the tables',
      'api has the role that serves',
      'api selects its own pods',
      'api is spread over machines',
      'api outlives a drained machine',
      'api has rules for its network',
      'api has time to end',
      'api has two at the least',
      'api leaves its number to the autoscaler',
      'api has a startupProbe',
      'api has a livenessProbe',
      'api has a readinessProbe',
      'api starts without the secrets that it can do without',
      'api stays in for one slow second, and no ten',
      'settings has HOTS, which no app reads',
      'the policy anybody names who may come in',
      'the manifests have a job that migrates',
      'the manifests hold no secret',
      'the manifests let nothing in or out by default',
      "the manifests need at most PostgreSQL's usual connections in a rollout",
    ]);
  });
});

const systemd = folderOf('systemd units', 'systemd', 'systemd-analyze');
(systemd === undefined ? describe.skip : describe)('the systemd units', () => {
  const analyze = (...args: readonly string[]) =>
    spawnSync(join(systemd ?? '', 'systemd-analyze'), [...args], { encoding: 'utf8' });
  const isHardened = (unit: string) => analyze('security', '--offline=true', '--threshold=20', unit).status === 0;
  const units = readdirSync(join(docker, 'systemd')).map((name) => join(docker, 'systemd', name));
  const wrong = join(bad, 'systemd/store.service');

  it('are valid', () => {
    expect(analyze('verify', ...units)).toMatchObject({ status: 0, stderr: '' });
  });

  it('expose no more than 2 of the 10 that systemd counts', () => {
    expect(units.filter((unit) => !isHardened(unit))).toEqual([]);
  });

  it('are told apart from one with an unknown key and no hardening', () => {
    expect(analyze('verify', wrong).stderr).toContain("Unknown key 'MemryMax'");
    expect(isHardened(wrong)).toBe(false);
  });
});

describe('the alert rules', () => {
  const parsed = (file: string): unknown => parse(readFileSync(join(docker, file), 'utf8'));

  it('are the same for Kubernetes (if not: node packages/tooling/prometheus-rule.js)', () => {
    const { spec } = parsed('kubernetes/monitoring/prometheus-rule.yaml') as { readonly spec: unknown };
    expect(spec).toEqual(parsed('prometheus/alerts.yml'));
  });

  it('know each process by the job that compose and Kubernetes give it', () => {
    const { scrape_configs } = parsed('prometheus/prometheus.yml') as {
      readonly scrape_configs: readonly { readonly job_name: string }[];
    };
    const monitors = parseAllDocuments(readFileSync(join(docker, 'kubernetes/monitoring/pod-monitors.yaml'), 'utf8'));
    const names = monitors.map((monitor) => (monitor.toJS() as { metadata: { name: string } }).metadata.name);
    // The proxy of compose corresponds to an ingress in Kubernetes.
    expect(scrape_configs.map(({ job_name }) => job_name).filter((job) => job !== 'proxy')).toEqual(names);
  });
});

describe('the autoscaler by the event loop', () => {
  const scaled = readYaml(join(docker, 'kubernetes/autoscaling/scaled-object.yaml'));

  it('has the bounds of the autoscaler that it replaces', () => {
    const [base] = resourcesOf(join(docker, 'kubernetes/base')).filter(
      ({ kind }) => kind === 'HorizontalPodAutoscaler',
    );
    expect(at(scaled, 'spec.scaleTargetRef.name')).toBe(at(base, 'spec.scaleTargetRef.name'));
    expect(at(scaled, 'spec.minReplicaCount')).toBe(at(base, 'spec.minReplicas'));
    expect(at(scaled, 'spec.maxReplicaCount')).toBe(at(base, 'spec.maxReplicas'));
    expect(at(scaled, 'spec.advanced.horizontalPodAutoscalerConfig.behavior')).toEqual(at(base, 'spec.behavior'));
    const [, cpu] = treesAt(scaled, 'spec.triggers');
    expect(at(cpu, 'metadata.value')).toBe(at(treesAt(base, 'spec.metrics')[0], 'resource.target.averageValue'));
  });

  it('has a query that promtool has tried', () => {
    const tests = treesAt(readYaml(join(docker, 'prometheus/alerts.test.yml')), 'tests');
    const tried = tests.flatMap((test) => treesAt(test, 'promql_expr_test')).map(({ expr }) => expr);
    expect(tried).toContain(at(treesAt(scaled, 'spec.triggers')[0], 'metadata.query'));
  });
});

describe('the shell scripts', () => {
  const shellcheck = folderOf('shell scripts', 'shellcheck', 'shellcheck');

  (shellcheck === undefined ? it.skip : it).each([
    ['ours', ['--external-sources', ...readdirSync(docker).filter((name) => name.endsWith('.sh')), '../.ci/run']],
    // It has no first line with its shell, because people also paste it into theirs.
    ['the quick start', ['--shell=sh', '../packages/web/examples/quickstart.sh']],
  ])('pass shellcheck: %s', (_which, args) => {
    expect(spawnSync(join(shellcheck ?? '', 'shellcheck'), args, { cwd: docker, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: '',
    });
  });
});
