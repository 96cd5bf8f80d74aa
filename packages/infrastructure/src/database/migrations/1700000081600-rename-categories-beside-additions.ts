import type { QueryRunner } from 'typeorm';

/**
 * Drops the unique constraint on names. Because a foreign key could refer to it, renaming a category blocked all
 * additions of animals to it. `categories_by_nfc` keeps the names unique.
 */
export class RenameCategoriesBesideAdditions1700000081600 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE categories DROP CONSTRAINT categories_name_key_key');
  }
}
