import type { QueryRunner } from 'typeorm';

/**
 * A new name of a category locked its row against everybody who added an animal to it, because a foreign key could refer
 * to a unique column. `categories_by_nfc` keeps the names unique.
 */
export class RenameCategoriesBesideAdditions1700000081600 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE categories DROP CONSTRAINT categories_name_key_key');
  }
}
