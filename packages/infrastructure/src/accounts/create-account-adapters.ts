import type { Account, AccountKey } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import type { DatabaseConnection } from '../database/data-source.js';
import { NotificationListener } from '../database/notification-listener.js';
import { PostgresCredentialRepository } from './postgres-credential-repository.js';
import { TypeOrmAccountRepository } from './typeorm-account-repository.js';
import { TypeOrmApiKeyRepository } from './typeorm-api-key-repository.js';

/** Accounts and their keys, those in use held in memory; a process that lets nobody in opens no connection for that. */
export function createAccountAdapters(dataSource: DataSource, connection: DatabaseConnection) {
  const apiKeys = new TypeOrmApiKeyRepository(dataSource, () => {
    listener.start();
  });
  const listener = new NotificationListener(connection, 'key_changes', (payload) => {
    apiKeys.forget(concernedBy(payload));
  });
  const forget = ({ id }: Account) => {
    apiKeys.forget(({ account }) => account.id === id);
  };
  return {
    accounts: new TypeOrmAccountRepository(dataSource, forget),
    apiKeys,
    credentials: new PostgresCredentialRepository(dataSource, forget),
    /** Writes what is still to be written; the data source must be open until then. */
    close: async () => {
      await listener.close();
      await apiKeys.close();
    },
  };
}

/** The trigger's words; of those that a later version may add it is known only that something has changed. */
function concernedBy(payload = ''): (found: AccountKey) => boolean {
  const [, what, id = ''] = /^(key|account) (\d+)$/.exec(payload) ?? [];
  if (what === 'key') return ({ key }) => key.id === BigInt(id);
  return what === 'account' ? ({ account }) => account.id === BigInt(id) : () => true;
}
