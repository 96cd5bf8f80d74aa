import type { QueryRunner } from 'typeorm';

/**
 * The service now notifies after its commits. Messages that the previous version queues wait until a worker looks at the
 * queue, at most a second, which is soon enough.
 */
export class NotifyAfterCommits1700000069000 {
  /** A transaction would keep the first table locked while it waits for the second. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER IF EXISTS messages_queued ON messages');
    await runner.query('DROP FUNCTION IF EXISTS notify_message_queued');
    await runner.query('DROP TRIGGER IF EXISTS account_mails_queued ON account_mails');
    await runner.query('DROP FUNCTION IF EXISTS notify_account_mail_queued');
  }
}
