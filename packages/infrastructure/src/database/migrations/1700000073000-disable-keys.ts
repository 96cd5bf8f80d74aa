import type { QueryRunner } from 'typeorm';

export class DisableKeys1700000073000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_keys ADD COLUMN disabled_at timestamptz');
    // A second trigger: to extend the first one it would have to be dropped, and changes meanwhile would go unnoticed.
    await runner.query(`
      CREATE TRIGGER api_keys_disabled AFTER UPDATE OF disabled_at ON api_keys
      FOR EACH ROW EXECUTE FUNCTION notify_key_change('key')`);
  }
}
