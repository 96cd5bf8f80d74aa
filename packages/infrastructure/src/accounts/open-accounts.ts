import type { AccountRepository, ApiKeyRepository } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import type { DatabaseConnection } from '../database/data-source.js';
import { CachingApiKeyRepository } from './caching-api-key-repository.js';
import { KeyChangeListener } from './key-change-listener.js';
import { TypeOrmAccountRepository } from './typeorm-account-repository.js';
import { TypeOrmApiKeyRepository } from './typeorm-api-key-repository.js';

export interface Accounts {
  readonly accounts: AccountRepository;
  readonly apiKeys: ApiKeyRepository;
  /** Writes what is still to be written; the data source must be open until then. */
  readonly close: () => Promise<void>;
}

/** Accounts and their keys, those in use held in memory; a process that lets nobody in opens no connection for that. */
export function openAccounts(dataSource: DataSource, connection: DatabaseConnection): Accounts {
  const stored = new TypeOrmApiKeyRepository(dataSource);
  const apiKeys = new CachingApiKeyRepository(stored, () => {
    listener.start();
  });
  const listener = new KeyChangeListener(connection, (change) => {
    apiKeys.forget(change);
  });
  return {
    accounts: new TypeOrmAccountRepository(dataSource, ({ id }) => {
      apiKeys.forget({ account: id });
    }),
    apiKeys,
    async close() {
      apiKeys.close();
      await listener.close();
      await stored.close();
    },
  };
}
