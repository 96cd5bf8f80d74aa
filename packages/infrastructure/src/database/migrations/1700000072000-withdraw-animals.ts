import type { QueryRunner } from 'typeorm';

export class WithdrawAnimals1700000072000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE withdrawn_animals (
        id bigint PRIMARY KEY,
        name text NOT NULL,
        category_id bigint NOT NULL,
        status text NOT NULL,
        withdrawn_at timestamptz NOT NULL
      )`);
    // VOLATILE: the query in the function has a new snapshot, so it sees commits that the caller's statement doesn't.
    await runner.query(`
      CREATE FUNCTION is_ordered(animal bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
      BEGIN
        RETURN EXISTS (SELECT FROM orders WHERE animal_id = animal AND status = 'placed');
      END
      $$`);
    // Dropping a foreign key locks both tables, and transactions that place or end orders may lock them in the opposite
    // order. PostgreSQL ends a deadlock after a second by cancelling one of the two, which might be an order. The migration
    // gives up earlier and is tried again.
    await runner.query("SET LOCAL lock_timeout = '200ms'");
    // The orders of a withdrawn animal stay. No order is placed for a missing animal even without the foreign key, because
    // every order first locks the animal's row.
    await runner.query('ALTER TABLE orders DROP CONSTRAINT IF EXISTS orders_animal_id_fkey');
  }
}
