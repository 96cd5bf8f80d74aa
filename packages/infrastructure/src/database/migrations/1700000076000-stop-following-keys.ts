import type { QueryRunner } from 'typeorm';

/**
 * Every process, also of the previous version, reads a key again after a second. So the notifications are no longer
 * needed.
 */
export class StopFollowingKeys1700000076000 {
  /** A transaction would keep the first table locked while it waits for the second. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER IF EXISTS accounts_changed ON accounts');
    await runner.query('DROP TRIGGER IF EXISTS api_keys_changed ON api_keys');
    await runner.query('DROP TRIGGER IF EXISTS api_keys_disabled ON api_keys');
    await runner.query('DROP FUNCTION IF EXISTS notify_key_change');
  }
}
