import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const file = (path: string) => readFileSync(join(__dirname, '../..', path), 'utf8');
const page = file('docker/without-containers.md');
const { scripts } = JSON.parse(file('package.json')) as { readonly scripts: Readonly<Record<string, string>> };

/** Each command of a text that starts the service, from the first of Node.js's options on. */
const commandsIn = (text: string, service: string) =>
  Array.from(text.matchAll(new RegExp(`(?:--[a-z-]+(?:=\\d+)? )*apps/${service}/dist/main\\.js`, 'g')), String);
const plain = (text: string) => text.replaceAll(/["',[\]]/g, '').replaceAll(/\s+/g, ' ');

it.each([
  ['api', 2],
  ['portal', 1],
  ['worker', 1],
])('%s is started with the same options of Node.js everywhere', (service, times) => {
  const [command] = commandsIn(scripts[`start:${service}`] ?? '', service);
  expect(commandsIn(plain(file('docker/Dockerfile')), service)).toEqual([command]);
  expect(commandsIn(page, service)).toEqual(Array(times).fill(command));
});

it('the page without containers names each variable of the proxy’s configuration', () => {
  const names = Array.from(file('docker/haproxy/haproxy.cfg').matchAll(/\$\{([A-Z0-9_]+)/g), ([, name = '']) => name);
  expect(names.filter((name) => !page.includes(`\n${name}=`))).toEqual([]);
});
