import type { QueryRunner } from 'typeorm';

export class CreateCategories1700000071000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE categories (
        id bigint PRIMARY KEY,
        name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
        name_key text NOT NULL UNIQUE
      )`);
    // Not the column's default, because animals may already use an id. OWNED BY gives both the same owner.
    await runner.query('CREATE SEQUENCE category_ids OWNED BY categories.id');
    // SECURITY DEFINER: the role of the services may not use this sequence, only those that are defaults of columns.
    await runner.query(`
      CREATE FUNCTION next_category_id(step bigint) RETURNS bigint LANGUAGE sql VOLATILE SECURITY DEFINER
      RETURN CASE WHEN step = 0 THEN nextval('category_ids') ELSE setval('category_ids', nextval('category_ids') + step) END`);
    // Locks the category as a foreign key does. VOLATILE, here and below: each statement in the function has a new snapshot,
    // so it sees commits that the caller's statement doesn't.
    await runner.query(`
      CREATE FUNCTION known_category(wanted bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE STRICT AS $$
      BEGIN
        PERFORM FROM categories WHERE id = wanted FOR KEY SHARE;
        IF NOT FOUND THEN
          RAISE foreign_key_violation USING MESSAGE = 'no category has the id ' || wanted;
        END IF;
        RETURN wanted;
      END
      $$`);
    // ORDER BY makes PostgreSQL use an index. With `category_id = wanted` it might scan the table for such an animal.
    await runner.query(`
      CREATE FUNCTION is_category_used(wanted bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
      BEGIN
        RETURN coalesce((
          SELECT category_id = wanted FROM animals WHERE category_id >= wanted
          ORDER BY category_id, status, id LIMIT 1
        ), false);
      END
      $$`);
  }
}
