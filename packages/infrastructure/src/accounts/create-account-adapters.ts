import type { Account } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import type { DatabaseConnection } from '../database/data-source.js';
import { NotificationListener } from '../database/notification-listener.js';
import { PostgresAccountMailQueue } from './postgres-account-mail-queue.js';
import { PostgresCredentialRepository } from './postgres-credential-repository.js';
import type { ChangedRow } from './recent-changes.js';
import { TypeOrmAccountRepository } from './typeorm-account-repository.js';
import { TypeOrmApiKeyRepository } from './typeorm-api-key-repository.js';

/**
 * The repositories of accounts and keys, with a cache of keys in use. The connection for notifications opens at the
 * first cached key.
 */
export function createAccountAdapters(
  dataSource: DataSource,
  connection: DatabaseConnection,
  onEvent: (message: string) => void,
) {
  const apiKeys = new TypeOrmApiKeyRepository(dataSource, onEvent, () => {
    listener.start();
  });
  const listener = new NotificationListener(connection, 'key_changes', (payload) => {
    apiKeys.forget(isChangedRow(payload) ? payload : undefined);
  });
  const forget = ({ id }: Account) => {
    apiKeys.forget(`account ${id}`);
  };
  const accountMails = new PostgresAccountMailQueue(dataSource, connection);
  return {
    accountMails,
    accounts: new TypeOrmAccountRepository(dataSource, forget),
    apiKeys,
    credentials: new PostgresCredentialRepository(dataSource, forget),
    /** Writes pending changes. The data source must still be open. */
    close: async () => {
      await listener.close();
      await accountMails.close();
      await apiKeys.close();
    },
  };
}

/** An unknown payload, perhaps of a later version, concerns every entry. */
function isChangedRow(payload = ''): payload is ChangedRow {
  return /^(key|account) \d+$/.test(payload);
}
