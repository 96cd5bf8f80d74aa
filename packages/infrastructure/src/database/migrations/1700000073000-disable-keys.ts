import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DisableKeys1700000073000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_keys ADD COLUMN disabled_at timestamptz');
    // A second trigger: to extend the first one it would have to be dropped, and changes meanwhile would go unnoticed.
    await runner.query(`
      CREATE TRIGGER api_keys_disabled AFTER UPDATE OF disabled_at ON api_keys
      FOR EACH ROW EXECUTE FUNCTION notify_key_change('key')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    // The previous version doesn't know disabled keys. They are revoked, so that they don't work again.
    await runner.query(
      'UPDATE api_keys SET revoked_at = disabled_at WHERE disabled_at IS NOT NULL AND revoked_at IS NULL',
    );
    await runner.query('DROP TRIGGER api_keys_disabled ON api_keys');
    await runner.query('ALTER TABLE api_keys DROP COLUMN disabled_at');
  }
}
