import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiSettings, portalSettings, workerSettings } from '@adoption-store/config';
import { expect, it } from '@jest/globals';

const apps = join(__dirname, '../../apps');
const files = readdirSync(apps, { recursive: true, encoding: 'utf8' }).filter((path) =>
  /^\w+\/src\/.*\.ts$/.test(path),
);
const code = files.map((file) => readFileSync(join(apps, file), 'utf8')).join('\n');

/** They only say whether another setting is required. */
const CONDITIONS = ['DATABASE_POOLER'];

it('each setting is read by an app', () => {
  const names = Object.keys({ ...apiSettings, ...portalSettings, ...workerSettings });
  const unread = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code));
  expect(unread).toEqual(CONDITIONS);
});
