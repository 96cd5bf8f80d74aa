import type { QueryRunner } from 'typeorm';

export class DeliverMessagesInTurn1700000082530 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TRIGGER messages_in_turn AFTER INSERT OR UPDATE OF due_at, status ON messages
      FOR EACH ROW WHEN (NEW.status = 'queued') EXECUTE FUNCTION join_delivery_line()`);
    await runner.query(`
      INSERT INTO delivery_lines (account_id, queue, turn_at)
      SELECT account_id, 'messages', min(due_at) FROM messages WHERE status = 'queued' GROUP BY account_id`);
  }
}
