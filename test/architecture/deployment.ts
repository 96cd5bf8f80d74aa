import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { apiSettings, portalSettings, readSettings, workerSettings } from '@adoption-store/config';
import { parse, parseAllDocuments } from 'yaml';

export type Tree = Readonly<Record<string, unknown>>;

const SETTINGS = { ...apiSettings, ...portalSettings, ...workerSettings };
const repository = join(__dirname, '../..');

/** The value at a path through YAML, such as `deploy.resources.limits`. */
export function at(tree: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((each, key) => (each as Tree | undefined)?.[key], tree);
}

export function treesAt(tree: unknown, path: string): readonly Tree[] {
  return (at(tree, path) as readonly Tree[] | undefined) ?? [];
}

export function entriesAt(tree: unknown, path: string): readonly (readonly [string, Tree])[] {
  return Object.entries((at(tree, path) as Readonly<Record<string, Tree>> | undefined) ?? {});
}

export function readYaml(file: string): Tree {
  return parse(readFileSync(file, 'utf8'), { merge: true }) as Tree;
}

/** A sentence for each unmet expectation. */
export function unmet(who: string, expectations: Readonly<Record<string, boolean>>): string[] {
  return Object.entries(expectations)
    .filter(([, isMet]) => !isMet)
    .map(([expectation]) => `${who} ${expectation}`);
}

/** Pinned by version or digest, so that two builds are the same. */
export function isPinned(image: unknown): boolean {
  return /(?::(?:v?\d+\.\d+(?:\.\d+)?(?:-[\w.-]+)?|\$\{VERSION:-\d+\.\d+\.\d+\})|@sha256:[0-9a-f]{64})$/.test(
    String(image),
  );
}

/** Variables that no app reads. */
export function unknownSettings(names: readonly string[]): string[] {
  return names.filter((name) => !(name in SETTINGS) && name !== 'NODE_ENV');
}

/**
 * Whether the process can stop by itself within that grace period.
 *
 * @throws ConfigError if LAME_DUCK leaves it no time.
 */
export function hasTimeToEnd(graceSeconds: number, environment: Readonly<Record<string, string>>): boolean {
  const values = readSettings(
    { SHUTDOWN_TIMEOUT: apiSettings.SHUTDOWN_TIMEOUT, LAME_DUCK: apiSettings.LAME_DUCK },
    environment,
  );
  return values.SHUTDOWN_TIMEOUT < graceSeconds * 1_000;
}

/** Whether the app serves that path. */
export function isServed(app: string, path: string): boolean {
  const folder = join(repository, 'apps', app, 'src');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return sources.some((name) => readFileSync(join(folder, name), 'utf8').includes(`'${path}'`));
}

/** Every resource of a kustomization, including its bases and generated ConfigMaps. */
export function resourcesOf(folder: string): readonly Tree[] {
  const kustomization = readYaml(join(folder, 'kustomization.yaml'));
  const named = ((kustomization['resources'] as readonly string[] | undefined) ?? []).flatMap((name) =>
    name.endsWith('.yaml') ? documentsOf(join(folder, name)) : resourcesOf(join(folder, name)),
  );
  const generated = treesAt(kustomization, 'configMapGenerator').map(({ name, literals }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: Object.fromEntries(
      (literals as readonly string[]).map((literal) => literal.split(/=(.*)/s).slice(0, 2)),
    ) as Tree,
  }));
  return [...named, ...generated];
}

function documentsOf(file: string): readonly Tree[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Tree);
}

/** Mounted files that don't exist. */
export function missingMounts(composeFile: string, volumes: readonly string[]): string[] {
  const mounted = volumes.map((volume) => /^(\.[^:]*):/.exec(volume)?.[1]).filter((path) => path !== undefined);
  return mounted.filter((path) => !existsSync(join(dirname(composeFile), path)));
}
