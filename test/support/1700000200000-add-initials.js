/**
 * A migration of the next release: a column, its values for the rows that exist, and an index. It can end at any place,
 * so each statement can run again.
 */
export class AddInitials1700000200000 {
  transaction = false;

  async up(runner) {
    await runner.query('ALTER TABLE animals ADD COLUMN IF NOT EXISTS initial text');
    // In the order of the ids, as requests lock several animals.
    const fill = `
      WITH unfilled AS (
        SELECT id FROM animals WHERE id > $1 AND initial IS NULL ORDER BY id LIMIT 5000 FOR UPDATE
      ), filled AS (
        UPDATE animals SET initial = upper(left(name, 1)) WHERE id IN (SELECT id FROM unfilled)
      )
      SELECT max(id) AS last FROM unfilled`;
    for (let last = '-9223372036854775808'; last;) last = (await runner.query(fill, [last]))[0]?.last;
    // It waits for all transactions that are older, for as long as they take. Nobody waits for it.
    await runner.query('SET lock_timeout = 0');
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS animals_by_initial');
    await runner.query('CREATE INDEX CONCURRENTLY animals_by_initial ON animals (initial, id)');
    await runner.query('RESET lock_timeout');
  }
}
