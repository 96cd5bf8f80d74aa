import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The service notifies by itself now, after its commits. Messages of the version before wait for a worker's next look,
 * a second at most, which its port allows.
 */
export class NotifyAfterCommits1700000069000 implements MigrationInterface {
  /** In a transaction it would wait for the second table while it keeps the first one locked. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER IF EXISTS messages_queued ON messages');
    await runner.query('DROP FUNCTION IF EXISTS notify_message_queued');
    await runner.query('DROP TRIGGER IF EXISTS account_mails_queued ON account_mails');
    await runner.query('DROP FUNCTION IF EXISTS notify_account_mail_queued');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [item, table] of [
      ['message', 'messages'],
      ['account_mail', 'account_mails'],
    ]) {
      await runner.query(`
        CREATE FUNCTION notify_${item}_queued() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          NOTIFY ${item}_queued;
          RETURN NULL;
        END
        $$`);
      await runner.query(`
        CREATE TRIGGER ${table}_queued AFTER INSERT ON ${table}
        FOR EACH STATEMENT EXECUTE FUNCTION notify_${item}_queued()`);
    }
  }
}
