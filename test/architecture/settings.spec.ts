import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiSettings, portalSettings, workerSettings } from '@adoption-store/config';
import { expect, it } from '@jest/globals';

/** The folders of what reads settings. Policies and addresses of the store are read where it is opened. */
const READERS = ['apps/api', 'apps/portal', 'apps/worker', 'packages/store'];

const code = READERS.map((folder) => sourcesIn(join(__dirname, '../..', folder, 'src'))).join('\n');

/** They only say whether another setting is required. */
const CONDITIONS = ['DATABASE_POOLER'];

it('each setting is read by an app, or where the store is opened', () => {
  const names = Object.keys({ ...apiSettings, ...portalSettings, ...workerSettings });
  const unread = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code));
  expect(unread).toEqual(CONDITIONS);
});

/** What compose itself has: its addresses and ports, one pool for each service, and no pooler. */
const FIXED = /(?:HOST|PORT)$|^DATABASE_(?:POOL|DIRECT)|^DATA_DIR$/;

it('compose passes each setting, and .env.example names each that is read from docker/.env', () => {
  const [compose, example] = [docker('compose.yaml'), docker('.env.example')];
  const names = Object.keys({ ...apiSettings, ...portalSettings, ...workerSettings }).filter(
    (name) => !FIXED.test(name),
  );
  expect(names.filter((name) => !new RegExp(`^ +${name}: `, 'm').test(compose))).toEqual([]);
  const variables = new Set(Array.from(compose.matchAll(/(?<!\$)\$\{([A-Z]\w*)/g), ([, name = '']) => name));
  expect([...variables].filter((name) => !new RegExp(`^(?:# )?${name}=`, 'm').test(example))).toEqual([]);
});

it('the page without containers names each variable of the proxy’s configuration', () => {
  const page = docker('without-containers.md');
  const names = Array.from(docker('haproxy/haproxy.cfg').matchAll(/\$\{([A-Z0-9_]+)/g), ([, name = '']) => name);
  expect(names.filter((name) => !page.includes(`\n${name}=`))).toEqual([]);
});

function docker(file: string): string {
  return readFileSync(join(__dirname, '../../docker', file), 'utf8');
}

function sourcesIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  return files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
}
