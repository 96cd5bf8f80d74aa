import type { QueryRunner } from 'typeorm';

export class DeliverAccountMailsInTurn1700000082540 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TRIGGER account_mails_in_turn AFTER INSERT OR UPDATE OF due_at, status ON account_mails
      FOR EACH ROW WHEN (NEW.status = 'queued') EXECUTE FUNCTION join_delivery_line()`);
    await runner.query(`
      INSERT INTO delivery_lines (account_id, queue, turn_at)
      SELECT account_id, 'account_mails', min(due_at) FROM account_mails WHERE status = 'queued' GROUP BY account_id`);
  }
}
