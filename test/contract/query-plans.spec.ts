import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type AccountId,
  type ApiKeyId,
  type Application,
  createApplication,
  DAY,
  HOUR,
  type Instant,
  later,
  type MessageId,
  MINUTE,
  plan,
  PURGED_KINDS,
} from '@adoption-store/domain';
import {
  InMemoryMessageSender,
  InMemoryPasswordMailer,
  ManualClock,
  PredictablePasswordHasher,
} from '@adoption-store/domain/testing';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { migrate } from '@adoption-store/infrastructure/testing';
import {
  ask,
  createDatabase,
  explainingUrl,
  growingCosts,
  type RunStatement,
  statementsDuring,
  type TestDatabase,
} from '@adoption-store/test-support';
import type pg from 'pg';

const ROWS = 100_000;
/** Most rows that a statement may read: the largest batches have 1,000. */
const MOST = 2_000;
/** Runs after which PostgreSQL may plan a prepared statement without its values. */
const RUNS = 7;
/** The only small tables: they hold the counts and bans of the last days, or are read completely at each start. */
const SMALL_TABLES = ['key_bans', 'migrations', 'request_counts'];
/** Not used by a use case: the portal reads its one secret by primary key. */
const OTHERS_TABLES = ['secrets'];

/**
 * One account has most of the rows, like a large partner, and another was opened late. Most available animals are among
 * the last, because earlier ones are sold.
 */
const FILL = `
  SET session_replication_role = replica;
  INSERT INTO accounts (email, plan, created_at)
  SELECT 'account-' || n || '@example.com', 'business', now() FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO api_keys (account_id, hash, ending, created_at, revoked_at, expires_at)
  SELECT CASE WHEN n % 10 = 0 THEN n ELSE 1 END, encode(sha256(n::text::bytea), 'hex'), 'abcd', now(),
    CASE WHEN n % 10 IN (1, 3, 5) THEN now() - n * interval '1 second' - (n % 1000 = 5)::integer * interval '500 days' END,
    CASE WHEN n % 10 IN (2, 4, 6, 7, 8, 9) THEN now() - n * interval '1 second' END
  FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO animals (name, category_id, status)
  SELECT 'Animal ' || n, n % 20, CASE WHEN n % 1000 = 0 OR n > 90000 THEN 'available' ELSE 'sold' END FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO orders (account_id, animal_id, status, created_at, updated_at)
  SELECT CASE WHEN n > 97000 THEN 2 WHEN n % 10 = 0 THEN n ELSE 1 END, n, CASE WHEN n % 1000 = 0 THEN 'cancelled' ELSE 'completed' END, now(), now()
  FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO messages (id, account_id, text, status, due_at, created_at)
  SELECT 'msg_' || n, CASE WHEN n % 10 = 0 THEN n ELSE 1 END, 'Hello',
    CASE WHEN n % 1000 = 0 THEN 'queued' WHEN n % 100 IN (2, 3) THEN 'failed' ELSE 'sent' END,
    now(), now() - CASE WHEN n % 100 = 1 THEN interval '100 days' ELSE interval '0' END
  FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO idempotency_records (account_id, key, fingerprint, answer, answered_at)
  SELECT CASE WHEN n % 10 = 0 THEN n ELSE 1 END, 'key-' || n, 'fingerprint', 'answer',
    now() - CASE WHEN n % 50 = 0 THEN interval '2 days' ELSE interval '0' END
  FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO password_resets (token_hash, account_id, expires_at)
  SELECT encode(sha256(n::text::bytea), 'hex'), n, now() + CASE WHEN n % 50 = 0 THEN interval '-1 day' ELSE interval '30 days' END
  FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO attempts (subject_hash, times, expires_at)
  SELECT encode(sha256(n::text::bytea), 'hex'), ARRAY[now()], now() + CASE WHEN n % 50 = 0 THEN interval '-1 day' ELSE interval '30 days' END
  FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO address_proofs (token_hash, account_id, expires_at)
  SELECT encode(sha256(n::text::bytea), 'hex'), n, now() + CASE WHEN n % 50 = 0 THEN interval '-1 day' ELSE interval '30 days' END
  FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO sessions (sid, token_hash, account_id, credential_version, begun_at, used_at, expire)
  SELECT 'session-' || n, encode(sha256(n::text::bytea), 'hex'), n, 1, now(), now(),
    now() + CASE WHEN n % 50 = 0 THEN interval '-1 day' ELSE interval '30 days' END
  FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO usage_by_day (account_id, day, key_id, admitted, refused)
  SELECT 1 + n % 1000, current_date - n / 200, n, 1, 0 FROM generate_series(1, ${ROWS}) AS n;
  SELECT setval(pg_get_serial_sequence(name, 'id'), ${ROWS}) FROM unnest(ARRAY['accounts', 'api_keys', 'animals', 'orders']) AS name;
  RESET session_replication_role;
  ANALYZE`;

let database: TestDatabase;
let tables: ReadonlySet<string>;
beforeAll(async () => {
  database = await createDatabase();
  await migrate({ connectionString: database.url });
  await query(FILL);
  const rows = await query<{ relname: string }>(`
    SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname`);
  const names = rows.map(({ relname }) => relname);
  tables = new Set(names.filter((name) => ![...SMALL_TABLES, ...OTHERS_TABLES].includes(name)));
  // Purging empties tables. After an autovacuum PostgreSQL would correctly read them completely.
  await query(names.map((name) => `ALTER TABLE ${name} SET (autovacuum_enabled = off);`).join(''));
});
afterAll(() => database.drop());

const query = <Row extends pg.QueryResultRow>(text: string) => ask<Row>(database.url, text);

const partner = 1n as AccountId;
/** A customer with only recent orders. */
const newcomer = 2n as AccountId;

interface Surroundings {
  readonly clock: ManualClock;
  readonly sender: InMemoryMessageSender;
  readonly mailer: InMemoryPasswordMailer;
  readonly hasher: PredictablePasswordHasher;
}

/**
 * Runs each use case successfully and unsuccessfully. A new use case must be added here, otherwise this doesn't
 * compile.
 */
function everyUseCase(application: Application, { clock, sender, mailer, hasher }: Surroundings, run: number) {
  const name = `run-${run}`;
  const email = `${name}@example.com`;
  const inVain = (work: Promise<unknown>) => work.catch(() => undefined);
  const animalId = BigInt((run + 1) * 1_000);
  const order = async () => {
    const { id: added } = await application.addAnimal.execute({ name, categoryId: 1n });
    const { id } = await application.placeOrder.execute({ accountId: partner, animalId: added });
    return { accountId: partner, id };
  };
  const open = async (whose: string) =>
    application.openAccount.execute({ email: `${whose}-${email}`, plan: plan('free') });
  const key = async (whose: string) => application.issueKey.execute({ accountId: (await open(whose)).id, name });
  const password = 'correct horse battery';
  const signUp = (whose: string) => application.signUp.execute({ email: `${whose}-${email}`, password });
  return {
    addAnimal: () => Promise.all([1n, 2n, 3n].map((categoryId) => application.addAnimal.execute({ name, categoryId }))),
    getAnimal: () => Promise.all([7n, 8n].map((id) => application.getAnimal.execute(id))),
    listAnimals: async () => {
      for (const limit of [1, 100]) {
        for (const status of [undefined, 'available', 'pending', 'sold'] as const) {
          for (const after of [undefined, 50_000n, 99_990n]) {
            await application.listAnimals.execute({ status, limit, after });
            await application.listAnimals.execute({ status, limit, after, ids: [5n, 70_000n, 10_000_000n] });
          }
          const pages = [100n, 50_000n, 99_990n].map((after) =>
            application.listAnimals.execute({ status, limit, after }),
          );
          await Promise.all(pages);
        }
      }
    },
    placeOrder: async () => {
      await application.placeOrder.execute({ accountId: partner, animalId });
      await inVain(application.placeOrder.execute({ accountId: partner, animalId: 10_000_000n }));
    },
    completeOrder: async () => application.completeOrder.execute(await order()),
    cancelOrder: async () => application.cancelOrder.execute(await order()),
    getOrder: () => application.getOrder.execute({ accountId: partner, id: 11n }),
    listOrders: async () => {
      for (const accountId of [partner, newcomer, 50n as AccountId]) {
        for (const status of [undefined, 'placed', 'completed', 'cancelled', 'expired'] as const) {
          for (const after of [undefined, 50_000n, 99_990n]) {
            await application.listOrders.execute({ accountId, status, after, limit: 20 });
          }
        }
      }
    },
    expireOrders: async () => {
      await order();
      clock.advance(49 * HOUR);
      await application.expireOrders.execute();
    },
    queueMessage: () => application.queueMessage.execute({ accountId: partner, text: name }),
    getMessage: () => application.getMessage.execute({ accountId: partner, id: 'msg_7' }),
    listMessages: async () => {
      for (const after of [undefined, { createdAt: later(clock.now(), -DAY), id: 'msg_7' as MessageId }]) {
        for (const who of ['account-1@example.com', 'account-10@example.com']) {
          await application.listMessages.execute({ email: who, after, limit: 20 });
        }
        await application.listMessages.execute({ status: 'failed', after, limit: 20 });
      }
    },
    retryMessage: async () => {
      await application.retryMessage.execute({ id: `msg_${run * 100 + 2}` });
      await inVain(application.retryMessage.execute({ id: 'msg_7' }));
    },
    retryFailedMessages: async () => {
      await application.retryFailedMessages.execute({ since: later(clock.now(), -MINUTE) });
    },
    deliverMessages: async () => {
      clock.advance(HOUR);
      await application.deliverMessages.execute();
      sender.failure = new Error('the mail server is away');
      await application.deliverMessages.execute();
      sender.failure = undefined;
      await application.deliverMessages.execute(undefined, () => true);
      await application.deliverMessages.backlog();
    },
    openAccount: () => application.openAccount.execute({ email, plan: plan('free') }),
    changePlan: () => application.changePlan.execute({ email: 'account-3@example.com', plan: plan('pro') }),
    getAccount: () => application.getAccount.execute(newcomer),
    // A list of all rows can't be made cheaper.
    listAccounts: async () => undefined,
    issueKey: async () => {
      await key('issue');
      await application.issueKey.execute({ accountId: partner });
    },
    rotateKey: async () => application.rotateKey.execute({ id: (await key('rotate')).key.id }),
    takeBackKey: async () => {
      const { key: old } = await key('take-back');
      await application.takeBackKey.execute(await application.rotateKey.execute({ id: old.id }));
    },
    revokeKey: async () => application.revokeKey.execute({ id: (await key('revoke')).key.id }),
    // Without an account it is a list of all keys, which can't be cheaper.
    listKeys: () => application.listKeys.execute({ email: 'account-3@example.com' }),
    getKey: () => application.getKey.execute({ accountId: partner, id: 11n }),
    showKeys: async () => {
      for (const accountId of [partner, newcomer]) {
        for (const before of [undefined, { endedAt: later(clock.now(), -DAY), id: 50_000n as ApiKeyId }]) {
          await application.showKeys.execute({ accountId, before });
        }
      }
    },
    authenticate: async () => application.authenticate.execute((await key('authenticate')).text),
    signUp: async () => {
      await signUp('sign-up');
      await inVain(signUp('sign-up'));
    },
    signIn: async () => {
      await signUp('sign-in');
      // Rehashes, because the parameters have changed.
      hasher.generation += 1;
      for (const each of ['sign-in', 'nobody']) {
        await application.signIn.execute({ email: `${each}-${email}`, password });
      }
    },
    changePassword: async () => {
      const { id: accountId } = await signUp('change');
      await application.changePassword.execute({ accountId, current: password, next: `${password} staple` });
    },
    requestPasswordReset: async () => {
      await signUp('request');
      for (const each of ['request', 'nobody']) {
        await application.requestPasswordReset.execute({ email: `${each}-${email}` });
      }
    },
    resetPassword: async () => {
      await signUp('reset');
      await application.requestPasswordReset.execute({ email: `reset-${email}` });
      const token = mailer.sent.at(-1)?.token ?? '';
      for (const each of [token, token]) await application.resetPassword.execute({ token: each, password });
    },
    limitAttempts: async () => {
      for (const limit of [2, 2, 2]) await application.limitAttempts.execute(email, { most: limit, within: HOUR });
      await application.limitAttempts.takeBack(email);
      await application.limitAttempts.forget([email]);
    },
    requestAddressProof: async () => {
      await application.requestAddressProof.execute(await signUp('proof'));
    },
    proveAddress: async () => {
      await signUp('prove');
      const token = mailer.proofs.at(-1)?.token ?? '';
      for (const each of [token, token]) await application.proveAddress.execute({ token: each });
    },
    closeAccount: async () => {
      const { id: accountId } = await signUp('close');
      await application.issueKey.execute({ accountId, name });
      // On another connection, because filling the table is not the service's statement.
      await query(`
        INSERT INTO api_keys (account_id, hash, ending, created_at, expires_at)
        SELECT ${accountId}, encode(sha256(('${name}-' || n)::bytea), 'hex'), 'abcd', now(), now() - interval '1 day'
        FROM generate_series(1, ${2 * MOST}) AS n`);
      await application.closeAccount.execute({ accountId, password });
    },
    beginSession: async () => {
      const account = await signUp('begin');
      await application.beginSession.execute({ account, replacing: `session-${run + 1}` });
    },
    resumeSession: async () => {
      const token = await application.beginSession.execute({ account: await signUp('resume') });
      clock.advance(MINUTE);
      for (const each of [token ?? '', 'unknown']) await application.resumeSession.execute(each);
    },
    renewSession: async () => {
      await application.renewSession.execute({ id: `session-${run + 101}`, account: await signUp('renew') });
    },
    endSession: () => application.endSession.execute({ id: `session-${run + 201}` }),
    meterRequest: async () => {
      const limits = plan('enterprise', { perMinute: 1, perDay: 1_000_000 });
      const account = await application.openAccount.execute({ email: `banned-${email}`, plan: limits });
      const { text } = await application.issueKey.execute({ accountId: account.id });
      const source = await application.authenticate.execute(text);
      for (let count = 0; count < 60; count += 1) await application.meterRequest.execute(source);
    },
    showUsage: async () => {
      for (const accountId of [partner, newcomer]) await application.showUsage.execute({ accountId });
    },
    answerOnce: async () => {
      const work = () => application.addAnimal.execute({ name, categoryId: 1n }).then(String);
      for (const each of [name, name, `key-${(run + 1) * 50}`]) {
        await inVain(application.answerOnce.execute({ accountId: partner, key: each, fingerprint: name }, work));
      }
    },
    purgeExpired: async () => {
      for (const kind of PURGED_KINDS) await application.purgeExpired.execute(kind);
    },
  } satisfies Record<keyof Application, () => Promise<unknown>>;
}

/** From the start of a process to its end. It uses one connection, so that statements are planned repeatedly. */
async function normalWork(only?: keyof Application): Promise<void> {
  const { ports, isReady, close } = await openInfrastructure({
    databaseUrl: explainingUrl(database.url),
    poolSize: 1,
  });
  const clock = new ManualClock(Date.now() as Instant);
  const sender = new InMemoryMessageSender();
  const mailer = new InMemoryPasswordMailer();
  const hasher = new PredictablePasswordHasher();
  const application = createApplication({
    ...ports,
    clock,
    messageSender: sender,
    passwordMailer: mailer,
    passwordHasher: hasher,
  });
  await isReady();
  for (let run = 0; run < RUNS; run += 1) {
    const useCases = Object.entries(everyUseCase(application, { clock, sender, mailer, hasher }, run));
    expect(useCases.map(([name]) => name).sort()).toEqual(Object.keys(application).sort());
    for (const [name, work] of useCases) if (only === undefined || name === only) await work();
  }
  await close();
}

function costsOf(statements: readonly RunStatement[]): readonly string[] {
  return [...new Set(statements.flatMap((statement) => growingCosts(statement, tables, MOST)))];
}

describe('of all the statements that the service sends', () => {
  it('none costs more the more rows there are', async () => {
    const sizes = await Promise.all(
      [...tables].map(async (table) => (await query<{ count: string }>(`SELECT count(*) FROM ${table}`))[0]?.count),
    );
    expect(sizes).toEqual([...tables].map(() => String(ROWS)));

    const statements = await statementsDuring(() => normalWork());

    expect(costsOf(statements)).toEqual([]);
    // Includes the statements of migrations, triggers and constraints.
    const seen = new Set(statements.map(({ text }) => text));
    for (const table of [...tables, ...SMALL_TABLES])
      expect([...seen].filter((text) => text.includes(table))).not.toEqual([]);
    expect(seen.size).toBeGreaterThan(40);
  });

  it.each([
    ['animals_by_status', 'listAnimals', /^reads .* of animals: SELECT .* WHERE \(status/],
    ['orders_by_account', 'listOrders', /^reads \d+ rows of orders: SELECT .* WHERE .*account_id/],
    ['messages_due', 'deliverMessages', /^reads all of messages: WITH due AS/],
    ['api_keys_by_account_and_end', 'showKeys', /^reads \d+ rows of api_keys: SELECT/],
    ['api_keys_by_end', 'purgeExpired', /^reads .* of api_keys: DELETE/],
    ['messages_failed', 'listMessages', /^reads \d+ rows of messages: SELECT .*'failed'/],
    ['messages_by_account', 'listMessages', /^reads all of messages: SELECT/],
    ['messages_settled', 'purgeExpired', /^reads .* of messages: DELETE/],
    ['idempotency_records_by_time', 'purgeExpired', /^reads all of idempotency_records: DELETE/],
  ] as const)('%s is why: without it a test like this fails', async (index, useCase, expected) => {
    const definition = await query<{ indexdef: string }>(
      `SELECT indexdef FROM pg_indexes WHERE indexname = '${index}'`,
    );
    await query(`DROP INDEX ${index}`);
    const costs = costsOf(await statementsDuring(() => normalWork(useCase)));
    await query(String(definition[0]?.indexdef));
    expect(costs).toContainEqual(expect.stringMatching(expected));
  });
});
