import type { QueryRunner } from 'typeorm';

/** `migrate` fills the column after the migrations, because SQL can't compute the key as the domain does. */
export class FindAnimalsByName1700000082690 {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE animals ADD COLUMN IF NOT EXISTS name_key text COLLATE "C"');
    // The build waits for older transactions, but blocks nobody meanwhile.
    await runner.query('SET lock_timeout = 0');
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS animals_by_name_key');
    // A page by the beginning of a name is a range of this index, in any script.
    await runner.query('CREATE INDEX CONCURRENTLY animals_by_name_key ON animals (name_key, id)');
    await runner.query('RESET lock_timeout');
    // The key has no final sigma any more.
    await runner.query(`UPDATE categories SET name_key = replace(name_key, 'ς', 'σ') WHERE name_key LIKE '%ς%'`);
  }
}
