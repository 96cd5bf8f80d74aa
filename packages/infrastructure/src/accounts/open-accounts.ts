import type {
  Account,
  AccountId,
  AccountRepository,
  ApiKeyId,
  ApiKeyRepository,
  CredentialRepository,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import type { DatabaseConnection } from '../database/data-source.js';
import { NotificationListener } from '../database/notification-listener.js';
import { CachingApiKeyRepository, type KeyChange } from './caching-api-key-repository.js';
import { PostgresCredentialRepository } from './postgres-credential-repository.js';
import { TypeOrmAccountRepository } from './typeorm-account-repository.js';
import { TypeOrmApiKeyRepository } from './typeorm-api-key-repository.js';

export interface Accounts {
  readonly accounts: AccountRepository;
  readonly apiKeys: ApiKeyRepository;
  readonly credentials: CredentialRepository;
  /** Writes what is still to be written; the data source must be open until then. */
  readonly close: () => Promise<void>;
}

/** Accounts and their keys, those in use held in memory; a process that lets nobody in opens no connection for that. */
export function openAccounts(dataSource: DataSource, connection: DatabaseConnection): Accounts {
  const stored = new TypeOrmApiKeyRepository(dataSource);
  const apiKeys = new CachingApiKeyRepository(stored, () => {
    listener.start();
  });
  const listener = new NotificationListener(connection, 'key_changes', (payload) => {
    apiKeys.forget(changeFrom(payload));
  });
  const forget = ({ id }: Account) => {
    apiKeys.forget({ account: id });
  };
  return {
    accounts: new TypeOrmAccountRepository(dataSource, forget),
    apiKeys,
    credentials: new PostgresCredentialRepository(dataSource, forget),
    async close() {
      apiKeys.close();
      await listener.close();
      await stored.close();
    },
  };
}

/** The trigger's words; of those that a later version may add it is known only that something has changed. */
function changeFrom(payload = ''): KeyChange {
  const [, what, id = ''] = /^(key|account) (\d+)$/.exec(payload) ?? [];
  if (what === 'key') return { key: BigInt(id) as ApiKeyId };
  return what === 'account' ? { account: BigInt(id) as AccountId } : { anything: true };
}
