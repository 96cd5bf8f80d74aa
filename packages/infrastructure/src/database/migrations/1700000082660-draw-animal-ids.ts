import type { QueryRunner } from 'typeorm';

export class DrawAnimalIds1700000082660 {
  async up(runner: QueryRunner): Promise<void> {
    // An addition needs the ids of its animals, for their events. SECURITY DEFINER: the role of the services may not use
    // this sequence itself, only as the default of the column.
    await runner.query(`
      CREATE OR REPLACE FUNCTION next_animal_id() RETURNS bigint LANGUAGE sql VOLATILE SECURITY DEFINER
      RETURN nextval('animals_id_seq')`);
  }
}
