import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WithdrawAnimals1700000072000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE withdrawn_animals (
        id bigint PRIMARY KEY,
        name text NOT NULL,
        category_id bigint NOT NULL,
        status text NOT NULL,
        withdrawn_at timestamptz NOT NULL
      )`);
    // VOLATILE: the query sees all commits before it began, even if the caller's snapshot is older.
    await runner.query(`
      CREATE FUNCTION is_ordered(animal bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
      BEGIN
        RETURN EXISTS (SELECT FROM orders WHERE animal_id = animal AND status = 'placed');
      END
      $$`);
    // A foreign key is of two tables, and orders are placed and ended in either order of the two. PostgreSQL ends a deadlock
    // after a second, perhaps at the cost of an order; the migration gives up earlier, and is tried again.
    await runner.query("SET LOCAL lock_timeout = '200ms'");
    // An animal may be withdrawn after its orders have ended. Every statement that places an order reserves the animal's
    // row first, so no order is placed for an animal that isn't there.
    await runner.query('ALTER TABLE orders DROP CONSTRAINT IF EXISTS orders_animal_id_fkey');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DELETE FROM orders WHERE NOT EXISTS (SELECT FROM animals WHERE animals.id = orders.animal_id)');
    await runner.query(`
      ALTER TABLE orders
      ADD CONSTRAINT orders_animal_id_fkey FOREIGN KEY (animal_id) REFERENCES animals (id)`);
    await runner.query('DROP FUNCTION is_ordered');
    await runner.query('DROP TABLE withdrawn_animals');
  }
}
