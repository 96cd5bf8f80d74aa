import type { QueryRunner } from 'typeorm';

export class LimitOrders1700000060000 {
  async up(runner: QueryRunner): Promise<void> {
    // VOLATILE: each statement in the function has a new snapshot, so it sees commits that the caller's statement doesn't.
    await runner.query(`
      CREATE FUNCTION may_place_order(account bigint, most integer) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended('orders of account ' || account, 0));
        RETURN most > (
          SELECT count(*) FROM (
            SELECT FROM orders WHERE account_id = account AND status = 'placed' LIMIT most
          ) AS placed);
      END
      $$`);
  }
}
