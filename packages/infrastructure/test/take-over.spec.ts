import { ask, connectTo, createDatabase, expectDatabaseErrors, type TestDatabase } from '@adoption-store/test-support';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FORMER } from '../src/database/take-over.js';
import { migrate } from '../src/database/migrate.js';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { makeFormer } from './former-schema.js';
import { firstRowsOf, schemaOf } from './schema-lines.js';
import { testPolicy } from '@adoption-store/domain/testing';

// The role of the services may not change the schema.
expectDatabaseErrors('42501');

const BASELINE = [{ timestamp: '1700000100000', name: 'Baseline1700000100000' }];

describe('a database of the last commit before 1.0.0', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase();
    await makeFormer(database.ownerUrl);
  });
  afterEach(() => database.drop());

  const query = <Row extends object>(text: string) => ask<Row & Record<string, unknown>>(database.ownerUrl, text);
  const takeOver = (url = database.ownerUrl) => migrate({ connectionString: url });
  const migrations = () => query<{ name: string }>('SELECT timestamp, name FROM migrations ORDER BY timestamp');
  const state = async () => [
    await schemaOf(database.ownerUrl),
    await firstRowsOf(database.ownerUrl),
    await migrations(),
  ];

  it('becomes equal to a new one', async () => {
    const fresh = await createDatabase();
    expect(await schemaOf(database.ownerUrl)).not.toEqual(await schemaOf(fresh.ownerUrl));
    await takeOver();
    expect(await schemaOf(database.ownerUrl)).toEqual(await schemaOf(fresh.ownerUrl));
    expect(await firstRowsOf(database.ownerUrl)).toEqual(await firstRowsOf(fresh.ownerUrl));
    expect(await migrations()).toEqual(BASELINE);
    await fresh.drop();
  });

  it('keeps what it has, in the form of 1.0.0', async () => {
    const hash = (letter: string) => letter.repeat(64);
    await query(`
      INSERT INTO accounts (id, email, plan, created_at) VALUES (7, 'dev@example.com', 'free', now());
      INSERT INTO sessions (sid, token_hash, account_id, credential_version, begun_at, used_at, expire)
      VALUES ('kept', '${hash('a')}', 7, 0, now(), now(), now()), ('nobody', NULL, NULL, NULL, NULL, NULL, now());
      INSERT INTO password_resets (token_hash, account_id, expires_at, mail_id)
      VALUES ('${hash('b')}', 7, now(), 'mail_1'), ('${hash('c')}', 7, now(), NULL);
      INSERT INTO webhooks (id, account_id, url, status, secret, created_at, updated_at, follows_since, secret_key, past_secrets)
      VALUES ('old', 7, 'https://example.com', 'enabled', 's', '2026-01-01', now(), NULL, NULL,
        '[{"secret": "s1", "key": null, "until": 1}, {"secret": "s2", "key": "k", "until": 2}]'),
        ('new', 7, 'https://example.com', 'enabled', 's', '2026-01-01', now(), '2026-02-01', 'k', '[]')`);
    await takeOver();
    expect(await query('SELECT sid FROM sessions')).toEqual([{ sid: 'kept' }]);
    expect(await query('SELECT mail_id FROM password_resets ORDER BY mail_id')).toEqual([
      { mail_id: hash('c') },
      { mail_id: 'mail_1' },
    ]);
    const webhooks = `SELECT follows_since::date::text AS since, secret_key AS key, past_secrets AS past FROM webhooks ORDER BY id`;
    expect(await query(webhooks)).toEqual([
      { since: '2026-02-01', key: 'k', past: [] },
      {
        since: '2026-01-01',
        key: '',
        past: [
          { secret: 's1', key: '', until: 1 },
          { secret: 's2', key: 'k', until: 2 },
        ],
      },
    ]);
  });

  it('is taken over once, however many instances start at once', async () => {
    const open = () => openInfrastructure({ policy: testPolicy(), databaseUrl: database.ownerUrl, poolSize: 2 });
    const instances = await Promise.all(Array.from({ length: 4 }, open));
    expect(await migrations()).toEqual(BASELINE);
    await Promise.all(instances.map(({ close }) => close()));
  });

  describe('is left as it is, with one sentence that says what to do,', () => {
    let before: unknown;
    const isRefused = async (sentence: string, url?: string) => {
      before = await state();
      await expect(takeOver(url)).rejects.toThrow(sentence);
      expect(await state()).toEqual(before);
    };

    it('if it is of an earlier commit', async () => {
      await query(`DELETE FROM migrations WHERE name LIKE 'KeepPastSecrets%'`);
      await isRefused(
        'it is of an earlier commit than the last one before 1.0.0: KeepPastSecretsTogether1700000082660 has not run. ' +
          'Either start commit 2fe64686 on it once, or export the animals and import them into an empty database',
      );
    });

    it('if it has a migration that nobody knows', async () => {
      await query(`INSERT INTO migrations (timestamp, name) VALUES (1800000000000, 'Other1800000000000')`);
      await isRefused('it has migrations that no release knows, Other1800000000000: restore its backup');
    });

    it('while a service is connected, also one whose sessions belong to another role', async () => {
      const service = await connectTo(`${database.url}&application_name=adoption-store`);
      await isRefused('a service is connected to it: stop all of them, make a backup, and run migrate again');
      await service.end();
    });

    it('while events wait to be published', async () => {
      await query(`INSERT INTO event_outbox (account_id, type, data) VALUES (0, 'pet.added', '{}')`);
      await isRefused("it has events that aren't published yet: start commit 2fe64686 on it once, for some seconds");
    });

    it('if an animal has no key for searches', async () => {
      await query(`INSERT INTO animals (name, category_id, status) VALUES ('Luna', 1, 'sold')`);
      await isRefused('it has animals without a name_key: start commit 2fe64686 on it once');
    });

    it('to the role of the services', async () => {
      await isRefused('its schema is not up to date, and this role may not change it', database.url);
    });

    it('if a change fails', async () => {
      await query('ALTER TABLE sessions RENAME COLUMN sess TO kept');
      expectDatabaseErrors('42703');
      await isRefused('column "sess" of relation "sessions" does not exist');
      expect(await migrations()).toHaveLength(FORMER.length);
    });
  });
});

it('a database of a later release is used as it is', async () => {
  const database = await createDatabase();
  await ask(database.ownerUrl, `INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'Later9999999999999')`);
  await migrate({ connectionString: database.url });
  await database.drop();
});
