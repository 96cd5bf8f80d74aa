import type { Account, AccountId, AccountRequest, Authority, NewAccount } from '@adoption-store/domain';
import {
  type EntityManager,
  type FindOperator,
  type FindOptionsWhere,
  type InsertQueryBuilder,
  IsNull,
  Raw,
  type SelectQueryBuilder,
} from 'typeorm';
import { canonicalOf } from '../kernel/canonical-address.js';
import { accountFrom, type AccountRow, accountSchema, planColumns } from './account.schema.js';
import { apiKeySchema } from './api-key.schema.js';

/** A condition for `accounts.id`: the account to which the row of another table with this value belongs. */
export function accountOf(table: string, column: string, value: unknown): FindOperator<AccountId> {
  const where = (id: string) => `${id} = (SELECT account_id FROM ${table} WHERE ${column} = :value)`;
  return Raw(where, { value }) as FindOperator<AccountId>;
}

/**
 * A condition for `accounts.email`: the account with exactly this address, or else with its canonical form. A row
 * without a `canonical_email` is found only by its exact address: an account from before 1.0.0 whose canonical form
 * another account has.
 */
export function withAddress(address: string): FindOperator<string> {
  const canonical = canonicalOf(address);
  const where = (email: string) => `${email} = (
    SELECT email FROM accounts WHERE email IN (:address, :canonical) OR canonical_email = :canonical
    ORDER BY email = :address DESC, email = :canonical DESC LIMIT 1)`;
  return Raw(where, { address, canonical }) as FindOperator<string>;
}

export function selectAccount(
  manager: EntityManager,
  where: FindOptionsWhere<AccountRow>,
): SelectQueryBuilder<AccountRow> {
  return manager
    .createQueryBuilder(accountSchema, 'account')
    .addSelect('account.passwordHash')
    .where({ ...where, closedAt: IsNull() });
}

/** Locks the account's row until the transaction ends. Null if there is no such account, or it is closed. */
export async function lockAccount(
  manager: EntityManager,
  where: FindOptionsWhere<AccountRow>,
): Promise<AccountRow | null> {
  return selectAccount(manager, where).setLock('for_no_key_update').getOne();
}

/** Like `lockAccount`, but returns the domain's account. */
export async function findLocked(
  manager: EntityManager,
  where: FindOptionsWhere<AccountRow>,
): Promise<Account | undefined> {
  const row = await lockAccount(manager, where);
  return row === null ? undefined : accountFrom(row);
}

/** The open account, which isn't locked. */
export async function findOpen(
  manager: EntityManager,
  where: FindOptionsWhere<AccountRow>,
): Promise<Account | undefined> {
  const row = await manager.findOneBy(accountSchema, { ...where, closedAt: IsNull() });
  return row === null ? undefined : accountFrom(row);
}

/** Reads the account and the actor's key, and locks them, in this order, until the transaction ends. */
export async function lockAuthority(manager: EntityManager, { accountId, actor }: AccountRequest): Promise<Authority> {
  const account = await findLocked(manager, { id: accountId });
  if (typeof actor === 'string' || 'credentialVersion' in actor) return { account, key: undefined };
  const where = { id: actor.keyId, accountId };
  const key = await manager.findOne(apiKeySchema, { where, lock: { mode: 'for_no_key_update' } });
  return { account, key: key ?? undefined };
}

export function insertAccount(
  manager: EntityManager,
  { email, plan, scopes, createdAt }: NewAccount,
  credentials?: Pick<AccountRow, 'passwordHash' | 'credentialVersion' | 'provenAt'>,
): InsertQueryBuilder<AccountRow> {
  return manager
    .createQueryBuilder()
    .insert()
    .into(accountSchema)
    .values({
      email,
      canonicalEmail: canonicalOf(email),
      ...planColumns(plan),
      scopes: scopes ?? null,
      createdAt,
      ...credentials,
    });
}
