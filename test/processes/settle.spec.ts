import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, EMPTY, folderOf, nameOf, temporaryFolder } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApi, type TestApi } from '@adoption-store/api/testing/api';
import { runScript } from '../support/operator-scripts.js';
import { get } from '@adoption-store/api/testing/pets-client';
import { WholePostgres } from '../support/whole-postgres.js';

const bin = folderOf('settling a restore', 'postgresql', 'pg_dump', 'psql', 'initdb', 'postgres');
const whenInstalled = bin === undefined ? describe.skip : describe;

const EMAILS = { changing: 'changing@example.com', closing: 'closing@example.com' };
const OLD = 'the password of the backup';
const NEW = 'the password of later on';

type Key = Awaited<ReturnType<TestApi['openKey']>>;

let server: WholePostgres;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let api: TestApi;
let keys: Readonly<Record<'kept' | 'revoked' | 'rotated' | 'disabled' | 'closing', Key>>;
let messages: Readonly<Record<'sent' | 'waiting', string>>;
let session: string;
let saved: string;

beforeAll(async () => {
  if (bin === undefined) return;
  [server, folder] = await Promise.all([WholePostgres.start(bin), temporaryFolder()]);
  process.env['TEST_POSTGRES_URL'] = server.urlOf('postgres');
  process.env['TEST_DATABASE_TEMPLATE'] = EMPTY;
  api = await startApi();
  const { application } = api;
  const [changing, closing] = [
    await application.signUp.execute({ email: EMAILS.changing, password: OLD }),
    await application.signUp.execute({ email: EMAILS.closing, password: OLD }),
  ];
  const issued = await application.issueKey.execute({ accountId: closing.id });
  keys = {
    kept: await api.openKey(),
    revoked: await api.openKey(),
    rotated: await api.openKey(),
    disabled: await api.openKey(),
    closing: { account: closing, id: issued.key.id, key: issued.text },
  };
  const queue = (text: string) => application.queueMessage.execute({ accountId: keys.kept.account.id, text });
  messages = { sent: (await queue('sent')).id, waiting: (await queue('waiting')).id };
  session = (await application.beginSession.execute({ account: changing })) ?? '';
  await ask(api.databaseUrl, `INSERT INTO secrets (name) VALUES ('portal')`);
  const reset = `INSERT INTO password_resets VALUES (repeat('a', 64), $1, now() + interval '1 hour')`;
  await ask(api.databaseUrl, reset, [String(changing.id)]);
  const mail = `
    INSERT INTO account_mails (id, account_id, kind, page, status, due_at, created_at, expires_at)
    VALUES ('mail_waiting', $1, 'reset', 'https://portal.example.com', 'queued', now(), now(), now() + interval '1 hour')`;
  await ask(api.databaseUrl, mail, [String(changing.id)]);
  saved = join(folder.path, 'store.dump');
  expect(await runScript(bin, 'backup.sh', { DATABASE_URL: api.databaseUrl }, saved)).toMatchObject({ code: 0 });

  // A restore of this backup undoes these changes.
  await application.revokeKey.execute({ id: keys.revoked.id });
  await application.rotateKey.execute({ id: keys.rotated.id, overlap: 0 });
  await application.disableKey.execute({ id: keys.disabled.id, isDisabled: true });
  await application.changePassword.execute({ accountId: changing.id, current: OLD, next: NEW });
  expect(await application.closeAccount.execute({ accountId: closing.id, password: OLD })).toBe(true);
  await ask(api.databaseUrl, `UPDATE messages SET due_at = 'infinity' WHERE id = $1`, [messages.waiting]);
  await application.deliverMessages.execute();
  expect(api.messageSender.delivered.map(({ text }) => text)).toEqual(['sent']);
});

afterAll(async () => {
  if (bin === undefined) return;
  await api.close();
  await Promise.all([server.close(), folder.remove()]);
});

whenInstalled('a restore alone', () => {
  it('brings back revoked keys, former passwords, sessions, links and messages', async () => {
    await servedFrom(await restored(), async (again) => {
      for (const { key } of Object.values(keys)) expect((await get(again, '/v1/rate_limit', key)).status).toBe(200);
      for (const email of Object.values(EMAILS)) expect(await signIn(again, email, OLD)).toBe(true);
      expect(await again.application.resumeSession.execute(session)).toBeDefined();
      await again.application.deliverMessages.execute();
      expect(again.messageSender.delivered.map(({ text }) => text).sort()).toEqual(['sent', 'waiting']);
    });
  });
});

whenInstalled('settle.sh', () => {
  it('ends sessions, links, mails and secrets, holds messages, and gives no id again', async () => {
    const database = await restored();
    const { code, stdout, stderr } = await settle(database);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const table of [
      'sessions',
      'password_resets',
      'address_proofs',
      'address_changes',
      'account_mails',
      'secrets',
    ]) {
      expect(await server.ask(database, `SELECT FROM ${table}`)).toEqual([]);
    }
    for (const id of Object.values(messages)) expect(stdout).toMatch(new RegExp(`^message ${id} .* is held$`, 'm'));
    expect(await server.ask(database, 'SELECT DISTINCT status FROM messages')).toEqual([{ status: 'failed' }]);
    await servedFrom(database, async (again) => {
      expect(await again.application.resumeSession.execute(session)).toBeUndefined();
      await again.application.deliverMessages.execute();
      expect(again.messageSender.delivered).toEqual([]);
      const animal = await again.application.addAnimal.execute({ name: 'Luna', categoryId: 1n, status: 'available' });
      expect(animal.id).toBeGreaterThan(1_000_000n);
      // Changes that the script cannot know stay undone.
      expect(await signIn(again, EMAILS.changing, OLD)).toBe(true);
      expect((await get(again, '/v1/rate_limit', keys.revoked.key)).status).toBe(200);
    });
  });

  it.each([
    ['the keys of a list', '--revoke', ['revoked', 'disabled', 'closing']],
    ['all keys but those of a list', '--revoke-all-but', ['kept', 'rotated']],
  ] as const)('revokes %s', async (_what, option, names) => {
    const file = join(folder.path, 'keys');
    await writeFile(file, names.map((name) => String(keys[name].id)).join('\n'));
    const database = await restored();
    const { code, stdout } = await settle(database, {}, option, file);
    expect(code).toBe(0);
    const live = await server.ask<{ id: string }>(database, 'SELECT id FROM api_keys WHERE revoked_at IS NULL');
    const ids = live.map(({ id }) => BigInt(id));
    for (const [name, { id }] of Object.entries(keys)) {
      const isLive = ['kept', 'rotated'].includes(name);
      expect({ name, isLive: ids.includes(id as never) }).toEqual({ name, isLive });
      expect(stdout.includes(`key ${id} was revoked\n`)).toBe(!isLive);
    }
  });

  it('takes over ends of keys, closed accounts, passwords and sent messages, where the former database can be read', async () => {
    const database = await restored();
    const urls = [database, nameOf({ url: api.databaseUrl })].map((name) => server.urlOfBoth(name));
    const { code, stdout, stderr } = await settle(database, { DATABASE_URL: urls[0], FORMER_DATABASE_URL: urls[1] });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^message ${messages.sent} .* was sent$`, 'm'));
    await servedFrom(database, async (again) => {
      const status = async ({ key }: Key) => (await get(again, '/v1/rate_limit', key)).status;
      expect(await status(keys.kept)).toBe(200);
      for (const key of [keys.revoked, keys.rotated, keys.disabled, keys.closing]) expect(await status(key)).toBe(401);
      expect(await signIn(again, EMAILS.changing, OLD)).toBe(false);
      expect(await signIn(again, EMAILS.changing, NEW)).toBe(true);
      expect(await signIn(again, EMAILS.closing, OLD)).toBe(false);
      await again.application.deliverMessages.execute();
      expect(again.messageSender.delivered.map(({ text }) => text)).toEqual(['waiting']);
    });
  });

  it('settles nothing where the former database fails, the list is wrong, or the service runs', async () => {
    const database = await restored();
    const before = await server.contentsOf(database);
    const unreadable = await settle(database, { FORMER_DATABASE_URL: server.urlOf('postgres') });
    expect(unreadable.code).toBe(1);
    expect(unreadable.stderr).toContain('settle.sh: nothing was settled: the database is as it was\n');
    const file = join(folder.path, 'wrong');
    await writeFile(file, '1\nmy key\n');
    expect(await settle(database, {}, '--revoke', file)).toMatchObject({
      code: 1,
      stderr: `settle.sh: ${file} has a line that is not the id of a key\n`,
    });
    expect(await settle(database, {}, '--revoke')).toMatchObject({ code: 64 });
    expect(await server.contentsOf(database)).toEqual(before);
    expect((await runScript(bin, 'settle.sh', { DATABASE_URL: api.databaseUrl })).stderr).toMatch(
      /\d+ connections use the database: stop the service first/,
    );
  });
});

/** The name of a new database with what was saved. */
async function restored(): Promise<string> {
  const database = await server.createDatabase();
  const environment = { DATABASE_URL: server.urlOf(database) };
  expect(await runScript(bin, 'restore.sh', environment, saved)).toMatchObject({ code: 0, stderr: '' });
  return database;
}

function settle(database: string, environment = {}, ...args: readonly string[]) {
  return runScript(bin, 'settle.sh', { DATABASE_URL: server.urlOf(database), ...environment }, ...args);
}

async function signIn({ application }: TestApi, email: string, password: string): Promise<boolean> {
  return (await application.signIn.execute({ email, password })) !== undefined;
}

/** The API on a copy of the database. */
async function servedFrom(database: string, work: (api: TestApi) => Promise<void>): Promise<void> {
  process.env['TEST_DATABASE_TEMPLATE'] = database;
  const again = await startApi();
  try {
    await work(again);
  } finally {
    await again.close();
    delete process.env['TEST_DATABASE_TEMPLATE'];
  }
}
