import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newAnimal } from '@adoption-store/domain';
import {
  ask,
  createDatabase,
  DatabaseGate,
  freePort,
  nameOf,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { NotificationListener } from '../src/database/notification-listener.js';
import { Servers } from '../src/database/servers.js';
import { openInfrastructure } from '../src/open-infrastructure.js';

const KINDS = ['primary', 'standby', 'dead', 'frozen'] as const;
type Kind = (typeof KINDS)[number];

let databases: readonly TestDatabase[];
let frozen: Server;
const sockets = new Set<Socket>();
let urls: Readonly<Record<Kind, string>>;

beforeAll(async () => {
  databases = await Promise.all([createDatabase(), createDatabase()]);
  const [primary = '', standby = ''] = databases.map(({ url }) => url);
  await readOnly(standby, true);
  // It accepts connections and is silent.
  frozen = createServer((socket) => sockets.add(socket));
  await once(frozen.listen(0, '127.0.0.1'), 'listening');
  const { port } = frozen.address() as AddressInfo;
  const dead = `postgres://postgres:secret@127.0.0.1:${await freePort()}/store`;
  urls = { primary, standby, dead, frozen: `postgres://postgres:secret@127.0.0.1:${port}/store` };
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  frozen.close();
  await Promise.all(databases.map((database) => database.drop()));
});

/** New connections then only read, as those to a standby. */
function readOnly(url: string, isReadOnly: boolean) {
  const change = isReadOnly ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only';
  return ask(url, `BEGIN READ WRITE; ALTER DATABASE ${nameOf({ url })} ${change}; COMMIT`);
}

function serversOf(...urls: readonly [string, ...string[]]): Servers {
  return new Servers(urls, 0);
}

/** The database that a client connects to. A busy PostgreSQL may accept a connection too late, so it is tried again. */
async function databaseOf(servers: Servers): Promise<string | undefined> {
  let database: string | undefined;
  await until(async () => {
    const client = new servers.Client();
    ({ database } = client);
    try {
      await client.connect();
    } catch {
      return false;
    }
    await client.end();
    return true;
  });
  return database;
}

it('of every list of up to three servers, the first that accepts writes is the primary, or each has its reason', async () => {
  const lists = KINDS.flatMap((a) => [[a], ...KINDS.flatMap((b) => [[a, b], ...KINDS.map((c) => [a, b, c])])]);
  const reasons = { primary: '', standby: 'it only reads', dead: 'ECONNREFUSED', frozen: 'timeout' };
  const check = async (kinds: readonly Kind[]) => {
    const [first = '', ...others] = kinds.map((kind) => urls[kind]);
    const servers = serversOf(first, ...others);
    let error = '';
    const isRight = async () => {
      error = await servers.find().then(() => '', String);
      return kinds.includes('primary') ? error === '' : kinds.every((kind) => error.includes(reasons[kind]));
    };
    // Again, because a busy PostgreSQL may answer too late, which is a reason of its own.
    await until(isRight, { what: `the primary of ${kinds.join(', ')}`, within: 20_000 });
    if (kinds.includes('primary')) {
      expect(await databaseOf(servers)).toBe(nameOf({ url: urls.primary }));
      return;
    }
    expect(error).toMatch(/^Error: none of its servers accepts writes \(/);
    expect(error).not.toContain('secret');
  };
  // Few at a time, so that a busy PostgreSQL answers most in time.
  while (lists.length > 0) await Promise.all(lists.splice(0, 8).map(check));
});

it('silent servers are asked side by side', async () => {
  const servers = serversOf(urls.frozen, urls.frozen, urls.frozen, urls.frozen, urls.primary);
  let took = Infinity;
  await until(async () => {
    const begun = performance.now();
    const isFound = await servers.find().then(
      () => true,
      () => false,
    );
    took = performance.now() - begun;
    return isFound;
  });
  expect(took).toBeLessThan(1_500);
});

it('the primary stays the primary while it accepts writes, although an earlier server does so too', async () => {
  const [one, other] = await Promise.all([createDatabase(), createDatabase()]);
  const servers = serversOf(one.url, other.url);
  await readOnly(one.url, true);
  await servers.findAtStart();
  expect(await databaseOf(servers)).toBe(nameOf(other));
  await readOnly(one.url, false);
  await servers.findAtStart();
  expect(await databaseOf(servers)).toBe(nameOf(other));
  const started = serversOf(one.url, other.url);
  await started.findAtStart();
  expect(await databaseOf(started)).toBe(nameOf(one));
  await Promise.all([one.drop(), other.drop()]);
});

it('callers that come together, or shortly afterwards, share a lookup', async () => {
  const gate = await DatabaseGate.open(urls.standby);
  let connections = 0;
  const count = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await once(count.listen(0, '127.0.0.1'), 'listening');
  const servers = new Servers(
    [`postgres://postgres@127.0.0.1:${(count.address() as AddressInfo).port}/store`, gate.url],
    60_000,
  );
  for (let times = 0; times < 3; times += 1) {
    const lookups = await Promise.allSettled(Array.from({ length: 20 }, () => servers.find()));
    expect(lookups.every(({ status }) => status === 'rejected')).toBe(true);
    await ask(urls.primary, 'SELECT');
  }
  expect(connections).toBe(1);
  gate.shut();
  count.close();
});

it('a process doesn’t start while no server accepts writes, and says so', async () => {
  const [host, port] = [new URL(urls.dead).hostname, new URL(urls.dead).port];
  await expect(openInfrastructure({ databaseUrl: [urls.dead, urls.standby], poolSize: 2 })).rejects.toThrow(
    new RegExp(
      `^the database of DATABASE_URL \\(${host}:${port},\\S+/store\\) can't be used: ` +
        `none of its servers accepts writes \\(${host}:${port}: (Error: )?connect ECONNREFUSED \\S+; \\S+: it only reads\\)$`,
    ),
  );
});

it('what needs a session behind a pooler finds the primary among the servers of DATABASE_DIRECT_URL', async () => {
  const directDatabaseUrl = [urls.dead, urls.standby];
  await expect(openInfrastructure({ databaseUrl: urls.primary, directDatabaseUrl, poolSize: 2 })).rejects.toThrow(
    /^the database of DATABASE_DIRECT_URL \(.* can't be used: none of its servers accepts writes \(/,
  );
});

it('a listener follows the primary by itself', async () => {
  const [one, other] = await Promise.all([createDatabase(), createDatabase()]);
  await readOnly(one.url, true);
  const gate = await DatabaseGate.open(other.url);
  const heard: (string | undefined)[] = [];
  const servers = serversOf(one.url, gate.url);
  const listener = new NotificationListener({ servers }, 'news', (payload) => heard.push(payload));
  listener.start();
  await until(() => heard.length > 0);
  await ask(other.url, `NOTIFY news, 'Luna'`);
  await until(() => heard.length > 1);
  await readOnly(one.url, false);
  gate.shut();
  await until(() => heard.length > 2);
  await ask(one.url, `NOTIFY news, 'Milo'`);
  await until(() => heard.length > 3);
  expect(heard).toEqual([undefined, 'Luna', undefined, 'Milo']);
  await listener.close();
  await Promise.all([one.drop(), other.drop()]);
});

it('a process follows the primary, and isn’t ready while there is none', async () => {
  const events: string[] = [];
  const [one, other] = await Promise.all([createDatabase(), createDatabase()]);
  await readOnly(one.url, true);
  const databaseUrl = [one.url, other.url];
  const { ports, isReady, close } = await openInfrastructure({
    ...{ databaseUrl, poolSize: 4 },
    onEvent: (event) => events.push(event),
  });
  const add = async (name: string) => ports.animals.add(newAnimal({ name, categoryId: 1n }));
  await add('Luna');
  await until(isReady);
  // Both only read, as while a failover is in progress.
  await readOnly(other.url, true);
  const endAll = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  await ask(other.url, endAll);
  await until(async () => !(await isReady()));
  await expect(add('Milo')).rejects.toThrow('the service is not available just now');
  await readOnly(one.url, false);
  await until(isReady);
  await add('Bella');
  expect((await ports.animals.list({ limit: 5 })).map(({ name }) => name)).toEqual(['Bella']);
  expect(await ask(one.url, 'SELECT name FROM animals')).toEqual([{ name: 'Bella' }]);
  expect(events).toEqual([expect.stringMatching(/^The primary is now \S+:\d+\.$/)]);
  await close();
  await Promise.all([one.drop(), other.drop()]);
});

it('a process that starts looks several times, because one lookup may be too short', async () => {
  const gate = await DatabaseGate.open(urls.primary);
  gate.shut();
  await expect(serversOf(gate.url).findAtStart()).rejects.toThrow('none of its servers accepts writes');
  // Milliseconds between two lookups, in which the gate is opened.
  const servers = new Servers([gate.url], 300);
  const found = servers.findAtStart();
  const [first] = await Promise.allSettled([servers.find()]);
  await gate.reopen();
  await found;
  expect(first.status).toBe('rejected');
  gate.shut();
});
