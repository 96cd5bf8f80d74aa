import { readFromDatabase } from '../database/on-database.js';
import {
  type Account,
  type AccountId,
  type CredentialRepository,
  type Credentials,
  type CredentialsChange,
  emailTaken,
  type Instant,
  instant,
  type LinkKind,
  type MailedLink,
  type NewCredentials,
  type SignUpLink,
} from '@adoption-store/domain';
import type { DataSource, EntityManager, SelectQueryBuilder } from 'typeorm';
import { sqlState, UNIQUE_VIOLATION } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { inTransaction } from '../database/transactions.js';
import { canonicalOf } from '../kernel/canonical-address.js';
import { DELETE_HOURS, DELETE_FAILED_REQUESTS } from '../limits/postgres-request-records.js';
import { accountOf, findOpen, insertAccount, lockAccount, selectAccount, withAddress } from './account-queries.js';
import { accountFrom, type AccountRow, accountSchema } from './account.schema.js';
import { HAS_NOT_ENDED } from './api-key.schema.js';
import { EXPIRE_MAILS, LINKS, queueNotice } from './postgres-account-mail-queue.js';

// Locks the keys in the order of their ids, as WRITE_USES does, against deadlocks. Keys that have ended stay as they
// are: there may be very many.
const REVOKE_KEYS = `
  WITH locked AS (
    SELECT id FROM api_keys WHERE account_id = $1 AND ${HAS_NOT_ENDED}
    ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE api_keys SET revoked_at = $2 FROM locked WHERE api_keys.id = locked.id`;

// Locks the webhooks in the order of their ids, against deadlocks. The worker deletes their deliveries later.
const DELETE_WEBHOOKS = `
  WITH locked AS (
    SELECT id FROM webhooks WHERE account_id = $1 ORDER BY id FOR UPDATE
  ), gone AS (
    DELETE FROM webhooks USING locked WHERE webhooks.id = locked.id RETURNING webhooks.id
  )
  INSERT INTO deleted_webhooks (id) SELECT id FROM gone`;

// Locks all links of the address, in one order, so that of two callers the second one finds none.
const LOCK_SIGN_UPS = `
  SELECT FROM sign_ups WHERE email = (SELECT email FROM sign_ups WHERE token_hash = $1)
  ORDER BY token_hash FOR UPDATE`;

// A link's new address is in its mail, which is kept as long as the link.
const linkOf = (kind: LinkKind) => `
  SELECT link.expires_at AS "expiresAt", mail.address
  FROM ${LINKS[kind]} AS link LEFT JOIN account_mails AS mail ON mail.id = mail_id
  WHERE token_hash = $1`;

interface LinkRow {
  readonly expiresAt: Date;
  readonly address: string | null;
}

/** Every change of an account first locks its row, so that concurrent changes wait for each other. */
export class TypeOrmCredentialRepository implements CredentialRepository {
  constructor(private readonly dataSource: DataSource) {}

  async open(email: string, decide: (holder: Account | undefined) => NewCredentials): Promise<Account> {
    return inTransaction(this.dataSource, async (manager) => {
      return insertNew(manager, decide(await findOpen(manager, { email: withAddress(email) })));
    });
  }

  async findSignUp(tokenHash: string): Promise<SignUpLink | undefined> {
    return readFromDatabase(this.dataSource, () => readSignUp(this.dataSource.manager, tokenHash));
  }

  async completeSignUp(
    tokenHash: string,
    decide: (link: SignUpLink | undefined) => NewCredentials | undefined,
  ): Promise<Account | undefined> {
    return inTransaction(this.dataSource, async (manager) => {
      await manager.query(LOCK_SIGN_UPS, [tokenHash]);
      const link = await readSignUp(manager, tokenHash);
      const opened = decide(link);
      if (link === undefined || opened === undefined) return undefined;
      await manager.query('DELETE FROM sign_ups WHERE email = $1', [link.email]);
      return insertNew(manager, opened);
    });
  }

  async findByEmail(email: string): Promise<Credentials | undefined> {
    return this.find(selectAccount(this.dataSource.manager, { email: withAddress(email) }));
  }

  async findById(id: AccountId): Promise<Credentials | undefined> {
    return this.find(selectAccount(this.dataSource.manager, { id }));
  }

  async findLink(kind: LinkKind, tokenHash: string): Promise<MailedLink | undefined> {
    return readFromDatabase(this.dataSource, async () => {
      const { manager } = this.dataSource;
      const row = await selectAccount(manager, { id: accountOf(LINKS[kind], 'token_hash', tokenHash) }).getOne();
      return readLink(manager, row, kind, tokenHash);
    });
  }

  async change(
    id: AccountId,
    decide: (credentials: Credentials | undefined) => CredentialsChange | undefined,
  ): Promise<Account | undefined> {
    return inTransaction(this.dataSource, async (manager) => {
      const row = await lockAccount(manager, { id });
      return store(manager, row, decide(row === null ? undefined : credentialsOf(row)));
    });
  }

  async useLink(
    kind: LinkKind,
    tokenHash: string,
    decide: (link: MailedLink | undefined) => CredentialsChange | undefined,
  ): Promise<Account | undefined> {
    try {
      return await inTransaction(this.dataSource, async (manager) => {
        const row = await lockAccount(manager, { id: accountOf(LINKS[kind], 'token_hash', tokenHash) });
        return store(manager, row, decide(await readLink(manager, row, kind, tokenHash)));
      });
    } catch (error) {
      throw sqlState(error) === UNIQUE_VIOLATION ? emailTaken() : error;
    }
  }

  async purgeLinks(until: Instant): Promise<number> {
    let deleted = 0;
    for (const table of [...Object.values(LINKS), 'sign_ups']) {
      deleted += await deletePortions(this.dataSource, { table, time: 'expires_at' }, until);
    }
    return deleted;
  }

  private async find(account: SelectQueryBuilder<AccountRow>): Promise<Credentials | undefined> {
    const row = await readFromDatabase(this.dataSource, () => account.getOne());
    return row === null ? undefined : credentialsOf(row);
  }
}

function credentialsOf(row: AccountRow): Credentials {
  return { account: accountFrom(row), passwordHash: row.passwordHash ?? undefined };
}

/** @throws DomainError `email_taken` if another transaction has opened an account with this address meanwhile. */
async function insertNew(manager: EntityManager, { account, passwordHash }: NewCredentials): Promise<Account> {
  const { credentialVersion, provenAt } = account;
  const insert = insertAccount(manager, account, { passwordHash, credentialVersion, provenAt }).orIgnore();
  const [inserted] = (await insert.execute()).identifiers;
  if (inserted === undefined) throw emailTaken();
  return { ...account, id: BigInt(inserted['id'] as string) as AccountId };
}

async function readSignUp(manager: EntityManager, tokenHash: string): Promise<SignUpLink | undefined> {
  const text = 'SELECT email, expires_at AS "expiresAt" FROM sign_ups WHERE token_hash = $1';
  const [link] = await manager.query<{ email: string; expiresAt: Date }[]>(text, [tokenHash]);
  if (link === undefined) return undefined;
  const { email, expiresAt } = link;
  const holder = await findOpen(manager, { email: withAddress(email) });
  return { email, expiresAt: instant(expiresAt.getTime()), holder };
}

/** Runs after the account is locked, because another transaction may have used the link before. */
async function readLink(
  manager: EntityManager,
  row: AccountRow | null,
  kind: LinkKind,
  tokenHash: string,
): Promise<MailedLink | undefined> {
  if (row === null) return undefined;
  const [link] = await manager.query<LinkRow[]>(linkOf(kind), [tokenHash]);
  if (link === undefined) return undefined;
  const { expiresAt, address } = link;
  return {
    credentials: credentialsOf(row),
    expiresAt: instant(expiresAt.getTime()),
    address: address ?? undefined,
    isAddressTaken: address !== null && (await manager.existsBy(accountSchema, { email: withAddress(address) })),
  };
}

/** Stores a change of an account whose row is locked. */
async function store(
  manager: EntityManager,
  row: AccountRow | null,
  change: CredentialsChange | undefined,
): Promise<Account | undefined> {
  if (change === undefined) return undefined;
  const { credentials, keysRevokedAt, revokedLinks = [], notice, closedAt } = change;
  const { account, passwordHash = null } = credentials;
  const { id, email, credentialVersion, provenAt } = account;
  if (keysRevokedAt !== undefined) {
    await manager.query(REVOKE_KEYS, [id, new Date(keysRevokedAt)]);
    await manager.query(DELETE_WEBHOOKS, [id]);
  }
  for (const kind of revokedLinks) {
    await manager.query(`DELETE FROM ${LINKS[kind]} WHERE account_id = $1`, [id]);
    await manager.query(EXPIRE_MAILS, [id, kind]);
  }
  await queueNotice(manager, notice);
  if (closedAt !== undefined)
    for (const each of [DELETE_FAILED_REQUESTS, DELETE_HOURS]) await manager.query(each, [id]);
  // If the address stays, so does the canonical one. It may be null, because another account has the same one.
  const canonicalEmail = email === row?.email ? undefined : canonicalOf(email);
  await manager.update(
    accountSchema,
    { id },
    { email, canonicalEmail, credentialVersion, passwordHash, provenAt, closedAt },
  );
  return account;
}
