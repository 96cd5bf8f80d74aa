import type { QueryRunner } from 'typeorm';

export class IndexCategories1700000071100 {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // The build waits for older transactions, but blocks nobody meanwhile.
    await runner.query('SET lock_timeout = 0');
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS animals_by_category');
    // A page by category and status is a range of this index. It also tells whether any animal has a category.
    await runner.query('CREATE INDEX CONCURRENTLY animals_by_category ON animals (category_id, status, id)');
    await runner.query('RESET lock_timeout');
  }
}
