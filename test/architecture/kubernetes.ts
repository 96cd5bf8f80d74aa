import { join } from 'node:path';
import {
  at,
  hasTimeToEnd,
  isPinned,
  isServed,
  readYaml,
  resourcesOf,
  type Tree,
  treesAt,
  unknownSettings,
  unmet,
} from './deployment.js';

const PROBES = { startupProbe: '/livez', livenessProbe: '/livez', readinessProbe: '/readyz' } as const;

/** Secrets without which no app starts. */
const NEEDED_SECRETS = ['adoption-store-database', 'adoption-store-redis'];

/** The role that owns the tables, which no service has. */
const OWNER_SECRET = 'adoption-store-database-owner';

/** Connections of a process besides its pool: docker/sizing.md. */
const MORE_CONNECTIONS: Readonly<Record<string, number>> = { api: 2, portal: 1, worker: 3 };
/** Those of `migrate`, a command, a backup and superusers. */
const OTHER_CONNECTIONS = 2 + 2 + 1 + 3;
/** PostgreSQL's default. */
const MOST_CONNECTIONS = 100;

type Environment = Readonly<Record<string, string>>;

/** The unmet expectations of a kustomization, one sentence each. */
export function kubernetesFaults(folder: string): string[] {
  const resources = resourcesOf(folder);
  const ofKind = (kind: string) => resources.filter((resource) => resource['kind'] === kind);
  const deployments = ofKind('Deployment');
  const scheduled = ofKind('CronJob').map((job) => ({
    metadata: job['metadata'],
    spec: at(job, 'spec.jobTemplate.spec'),
  }));
  const images = treesAt(readYaml(join(folder, 'kustomization.yaml')), 'images');
  const policies = ofKind('NetworkPolicy');
  const everybody = policies.filter(
    (policy) => String(at(policy, 'spec.policyTypes')) === 'Ingress,Egress' && at(policy, 'spec.ingress') === undefined,
  );
  return [
    ...[...deployments, ...ofKind('Job'), ...scheduled].flatMap((workload) => podFaults(workload, images)),
    ...ofKind('CronJob').flatMap((job) =>
      unmet(nameOf(job), { 'runs one at a time': at(job, 'spec.concurrencyPolicy') === 'Forbid' }),
    ),
    ...[...ofKind('Job'), ...scheduled].flatMap((job) =>
      unmet(nameOf(job), { 'has the role that owns the tables': JSON.stringify(job).includes(OWNER_SECRET) }),
    ),
    ...deployments.flatMap((deployment) =>
      unmet(nameOf(deployment), { 'has the role that serves': !JSON.stringify(deployment).includes(OWNER_SECRET) }),
    ),
    ...deployments.flatMap((deployment) => deploymentFaults(deployment, resources)),
    ...ofKind('ConfigMap').flatMap((map) =>
      unknownSettings(Object.keys(map['data'] ?? {})).map((name) => `${nameOf(map)} has ${name}, which no app reads`),
    ),
    ...policies.flatMap((policy) =>
      unmet(`the policy ${nameOf(policy)}`, {
        'names who may come in': treesAt(policy, 'spec.ingress').every(({ from }) => from !== undefined),
      }),
    ),
    ...unmet('the manifests', {
      'have a job that migrates': ofKind('Job').some((job) => JSON.stringify(job).includes('dist/migrate.js')),
      'hold no secret':
        ofKind('Secret').length === 0 &&
        !/secretGenerator|password|postgres:\/\/|rediss?:\/\//i.test(JSON.stringify(resources)),
      'let nothing in or out by default': everybody.length === 1,
      "need at most PostgreSQL's usual connections in a rollout":
        deployments.reduce((sum, each) => sum + connectionsOf(each, resources), OTHER_CONNECTIONS) <= MOST_CONNECTIONS,
    }),
  ];
}

function podFaults(workload: Tree, images: readonly Tree[]): string[] {
  const pod = at(workload, 'spec.template.spec');
  const name = nameOf(workload);
  return [
    ...unmet(name, {
      'is not root':
        at(pod, 'securityContext.runAsNonRoot') === true && Number(at(pod, 'securityContext.runAsUser')) > 0,
      'has the seccomp profile': at(pod, 'securityContext.seccompProfile.type') === 'RuntimeDefault',
      "has no token of the cluster's": at(pod, 'automountServiceAccountToken') === false,
    }),
    ...treesAt(pod, 'containers').flatMap((container) => {
      const image = images.find((each) => each['name'] === container['image']);
      return unmet(name, {
        'has a read-only root file system': at(container, 'securityContext.readOnlyRootFilesystem') === true,
        'has no capabilities': String(at(container, 'securityContext.capabilities.drop')) === 'ALL',
        'gains no privileges': at(container, 'securityContext.allowPrivilegeEscalation') === false,
        'has requests and limits': ['requests', 'limits'].every((each) =>
          ['cpu', 'memory'].every((of) => at(container, `resources.${each}.${of}`) !== undefined),
        ),
        'has a pinned image': isPinned(`${String(image?.['newName'])}:${String(image?.['newTag'])}`),
      });
    }),
  ];
}

function deploymentFaults(deployment: Tree, resources: readonly Tree[]): string[] {
  const name = nameOf(deployment);
  const pod = at(deployment, 'spec.template.spec');
  const labels = JSON.stringify(at(deployment, 'spec.template.metadata.labels'));
  const guards = (kind: string, path: string) =>
    resources.filter((each) => each['kind'] === kind && JSON.stringify(at(each, path)) === labels);
  const container = treesAt(pod, 'containers')[0];
  const environment = environmentOf(deployment, resources);
  const scaled = autoscalersOf(deployment, resources);
  return [
    ...unmet(name, {
      'selects its own pods': JSON.stringify(at(deployment, 'spec.selector.matchLabels')) === labels,
      'is spread over machines': treesAt(pod, 'topologySpreadConstraints').some(
        ({ topologyKey }) => topologyKey === 'kubernetes.io/hostname',
      ),
      'outlives a drained machine': guards('PodDisruptionBudget', 'spec.selector.matchLabels').length === 1,
      'has rules for its network': guards('NetworkPolicy', 'spec.podSelector.matchLabels').length === 1,
      'has time to end': hasTimeToEnd(Number(at(pod, 'terminationGracePeriodSeconds') ?? 30), environment),
      'has two at the least':
        scaled.length > 0
          ? scaled.every((each) => Number(at(each, 'spec.minReplicas')) >= 2)
          : Number(at(deployment, 'spec.replicas')) >= 2,
      'leaves its number to the autoscaler': scaled.length === 0 || at(deployment, 'spec.replicas') === undefined,
    }),
    ...Object.entries(PROBES).flatMap(([probe, path]) =>
      unmet(name, { [`has a ${probe}`]: isAnswered(name, container, probe, path) }),
    ),
    ...unmet(name, {
      'starts without the secrets that it can do without': treesAt(container, 'envFrom').every(
        ({ secretRef }) =>
          secretRef === undefined ||
          NEEDED_SECRETS.includes(String(at(secretRef, 'name'))) ||
          at(secretRef, 'optional') === true,
      ),
    }),
    ...unmet(name, { 'stays in for one slow second, and no ten': isPatient(at(container, 'readinessProbe')) }),
  ];
}

function environmentOf(deployment: Tree, resources: readonly Tree[]): Environment {
  const container = treesAt(at(deployment, 'spec.template.spec'), 'containers')[0];
  const maps = treesAt(container, 'envFrom').map((from) => at(from, 'configMapRef.name'));
  const data = resources.filter((each) => maps.includes(nameOf(each))).map((each) => each['data']);
  return Object.assign({}, ...data) as Environment;
}

function autoscalersOf(deployment: Tree, resources: readonly Tree[]): readonly Tree[] {
  return resources.filter((each) => at(each, 'spec.scaleTargetRef.name') === nameOf(deployment));
}

/** The connections of as many pods as there may be, and of one more during a rollout. */
function connectionsOf(deployment: Tree, resources: readonly Tree[]): number {
  const [autoscaler] = autoscalersOf(deployment, resources);
  const pods = Number(at(autoscaler ?? deployment, autoscaler ? 'spec.maxReplicas' : 'spec.replicas'));
  const pool = Number(environmentOf(deployment, resources)['DATABASE_POOL_SIZE'] ?? 10);
  return (pods + 1) * (pool + (MORE_CONNECTIONS[nameOf(deployment)] ?? 0));
}

function isAnswered(app: string, container: Tree | undefined, probe: string, path: string): boolean {
  const ports = treesAt(container, 'ports').map(({ name }) => name);
  const asked = at(container, `${probe}.httpGet.path`);
  return asked === path && isServed(app, path) && ports.includes(at(container, `${probe}.httpGet.port`));
}

/** All pods use one database, so they notice its slowness together. Missing values are Kubernetes' defaults. */
function isPatient(probe: unknown): boolean {
  const period = Number(at(probe, 'periodSeconds') ?? 10);
  const failures = Number(at(probe, 'failureThreshold') ?? 3);
  return (failures - 1) * period >= 2 && failures * period <= 10;
}

function nameOf(resource: Tree): string {
  return String(at(resource, 'metadata.name'));
}
