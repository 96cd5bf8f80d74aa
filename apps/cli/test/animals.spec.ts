import { execFileSync } from 'node:child_process';
import { chmod, mkdir, open, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { hasVisible } from '@adoption-store/domain';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ANIMALS,
  ask,
  createDatabase,
  expectDatabaseErrors,
  Running,
  temporaryFolder,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import fc from 'fast-check';
import { animalCommands } from '../src/animals/animal-commands.js';
import { call } from './support/commands.js';

// An import whose process is killed.
expectDatabaseErrors('08006', '42501');

const HEADER = 'id,name,categoryId,status\r\n';
const ASM3_HEADER = 'ANIMALNAME,ANIMALSPECIES,MOVEMENTTYPE,ANIMALNOTFORADOPTION,ANIMALDECEASEDDATE,ANIMALNONSHELTER\n';
let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  database = await createDatabase();
});
afterAll(async () => {
  await database.drop();
  await folder.remove();
});
beforeEach(async () => {
  await ask(database.url, 'TRUNCATE animals CASCADE; ALTER SEQUENCE animals_id_seq RESTART');
});

/** As an operator runs them: an import makes a table, so it needs the owner's role. */
const urlFor = (command: string | undefined) => (command === 'import' ? database.ownerUrl : database.url);
const animals = (args: readonly string[], stdin = '') =>
  call(animalCommands, args, { DATABASE_URL: urlFor(args[0]) }, { stdin: inBytes(stdin) });
const inBytes = (text: string) => Readable.from([Buffer.from(text)]);
const importing = (text: string, ...args: readonly string[]) => animals(['import', '-', ...args], text);
const exported = async (...args: readonly string[]) => (await animals(['export', ...args])).stdout;
const count = async () => (await ask<{ count: number }>(database.url, 'SELECT count(*)::int FROM animals'))[0]?.count;
const rows = (number: number, from = 1) =>
  Array.from({ length: number }, (_, index) => `${from + index},Animal ${index},${index % 7},sold\n`).join('');

async function fileOf(name: string, text: string | Buffer): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, text);
  return path;
}

describe('animals import', () => {
  it('by a role that may not is refused, and names the role that owns the tables', async () => {
    for (const args of [[], ['--dry-run']]) {
      const refused = call(
        animalCommands,
        ['import', '-', ...args],
        { DATABASE_URL: database.url },
        { stdin: inBytes('name,categoryId\nRex,1\n') },
      );
      const reason = 'permission denied to create temporary tables in database';
      expect(await refused).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          new RegExp(`^an import needs the role that owns the tables, store_owner \\(${reason} .*\\)\\n$`),
        ),
      });
    }
  });

  it('adds the animals of a file, and says which ids they got and what has no field', async () => {
    const text = '{"name":"Rex","categoryId":1,"id":7}\n{"name":"Mia","categoryId":2,"age":3}\n';
    const file = await fileOf('some.ndjson', text);
    expect(await animals(['import', file])).toEqual({
      code: 0,
      stdout: `2 animals added
  with an id of the file: 1
  with a new id: 1, 8 to 8
There is no field here for
  age: 1
`,
      stderr: '',
    });
    expect(await exported('-', '--format', 'csv')).toBe(`${HEADER}7,Rex,1,available\r\n8,Mia,2,available\r\n`);
  });

  it('says so where no row is an animal, or there is none', async () => {
    const gone = `${ASM3_HEADER}Old,Cat,0,0,2020-01-01,0\nGuest,Cat,0,0,,1\n`;
    expect(await importing(gone, '--format', 'asm3')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^0 animals added\n {2}the file has 2 rows, and none is an animal to add\n/),
    });
    expect(await importing(HEADER)).toMatchObject({ code: 0, stdout: '0 animals added\n  the file has no rows\n' });
  });

  it('reads a file in the encoding that is named', async () => {
    const file = await fileOf('excel.csv', Buffer.from('name;categoryId\r\nZo\xeb\x92s \x80;1\r\n', 'latin1'));
    expect(await animals(['import', file, '--encoding', 'cp1252'])).toMatchObject({ code: 0 });
    expect(await exported()).toBe(`${HEADER}1,Zoë’s €,1,available\r\n`);
    expect(await animals(['import', file, '--encoding', 'ansi-ish'])).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/\n\n--encoding must be one such as windows-1252.*\n$/),
    });
  });

  it('names the first hundred refused rows, whoever refuses them, and counts the others', async () => {
    await importing(`${HEADER}5,Rex,1,sold\n`);
    const { code, stderr } = await importing(`${HEADER}5,Rex,1,sold\n${'x,y,z,sold\n'.repeat(2_000)}`);
    const lines = stderr.trimEnd().split('\n');
    expect(code).toBe(65);
    expect(lines).toHaveLength(102);
    expect(lines.slice(0, 2)).toEqual(['line 2: id 5 is that of another animal', 'line 3: id must be an integer']);
    expect(lines.slice(-2)).toEqual(['… and 1,901 more', '2,001 rows refused: nothing was added']);
    expect(await count()).toBe(1);
  });

  it('that is only tried says what would happen, and leaves nothing behind', async () => {
    const file = `name,categoryId,id,breed\n${'Rex,1,,x\n'.repeat(3)}Mia,2,1000,x\n`;
    expect(await importing(file, '--dry-run')).toEqual({
      code: 0,
      stdout: `4 animals would be added: this was a dry run
  with an id of the file: 1
  with a new id: 3
There is no field here for
  breed: 4
`,
      stderr: '',
    });
    expect(await count()).toBe(0);
  });

  it('takes foreign formats into the categories that are named, or have the names of the species', async () => {
    const row = (species: string) => `${ASM3_HEADER}Rex,"${species}",,,,\n`;
    const take = (species: string, ...categories: readonly string[]) =>
      importing(row(species), '--format', 'asm3', ...categories);
    expect(await take('Dog')).toMatchObject({
      code: 65,
      stderr: expect.stringContaining('line 2: ANIMALSPECIES "Dog" has no category\n'),
    });
    await ask(
      database.url,
      `INSERT INTO categories (id, name, name_key) VALUES (5, 'CATS', 'cats'), (6, 'Dog', 'dog')`,
    );
    const named = ['--categories', 'Scales, Fins & Other=-3,dog=9223372036854775807'];
    for (const species of ['Dog', 'Scales, Fins & Other', 'Cats'])
      expect(await take(species, ...named)).toMatchObject({ code: 0 });
    const found = await ask<{ id: string }>(database.url, 'SELECT category_id AS id FROM animals ORDER BY animals.id');
    expect(found.map(({ id }) => id)).toEqual(['9223372036854775807', '-3', '5']);
  });
});

it('an export of ASM3 imports with the status of each animal, whatever the case and the spaces of its species', async () => {
  // Written by csvexport_animals of ASM3's src/asm3/csvimport.py, which writes Python's None for NULL.
  const file = join(__dirname, 'support/asm3-export.csv');
  const categories = ['--categories', 'Dog=1,Cafe\u0301=9', '--format', 'asm3'];
  await ask(
    database.url,
    `DELETE FROM categories; INSERT INTO categories (id, name, name_key) VALUES
    (2, 'cat', 'cat'), (3, 'RABBIT', 'rabbit')`,
  );
  const { code, stdout, stderr } = await animals(['import', file, ...categories]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('18 animals added\n');
  for (const omitted of [
    'further rows of an animal: 2',
    'deceased animals: 1',
    'animals that are not the shelter’s: 1',
  ])
    expect(stdout).toContain(`  ${omitted}\n`);
  expect(stdout).not.toContain('ANIMALUNIT');
  const found = await ask<{ line: string }>(
    database.url,
    `SELECT concat_ws(' ', name, category_id, status) AS line FROM animals ORDER BY id`,
  );
  expect(found.map(({ line }) => line)).toEqual([
    ...['Rex 1 available', 'Mia 2 pending', 'Leo 2 available', 'Ida 2 pending', 'Bo 1 sold', 'Coco 3 available'],
    ...['Max 1 sold', 'Away 2 pending', 'Owned 1 sold', 'Stolen 1 pending', 'Feral 2 sold', 'Shop 3 available'],
    ...['Foster 1 pending', 'Say "Hi", Bob 1 available', 'Zoë 1 available', 'None 2 available'],
    ...['Luna 2 available', 'Tom 2 available'],
  ]);
  const composed = `${ASM3_HEADER}Rex, CAF\u00c9 ,,,,\n`;
  expect(await animals(['import', '-', ...categories], composed)).toMatchObject({ code: 0 });
});

describe('animals export', () => {
  // Every character that PostgreSQL stores, and often those that a format might take for its own.
  const name = fc
    .oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom('"', ',', ';', '\r', '\n', ' ', '\t', "'", '\\', '\ufeff', '=', '+', '-', '@', 'é'),
      }),
      fc.constantFrom('\\N', '\\.', 'NULL', ' a ', '"', '\r\n', '\u2028'),
    )
    .filter((text) => !text.includes('\0') && [...text].length <= 255 && hasVisible(text));
  const animal = fc.record({
    name,
    categoryId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    status: fc.constantFrom('available', 'pending', 'sold'),
  });

  it.each([['csv'], ['ndjson'], ['csv', '--for-spreadsheets']])(
    'to %s %s imports again to the same bytes',
    async (format, ...switches) => {
      const other = await createDatabase();
      const into = (args: readonly string[], text = '') =>
        call(animalCommands, [...args, '--format', format], { DATABASE_URL: other.ownerUrl }, { stdin: inBytes(text) });
      await fc.assert(
        fc.asyncProperty(fc.array(animal, { minLength: 1, maxLength: 200 }), async (drawn) => {
          await ask(database.url, 'TRUNCATE animals CASCADE');
          await ask(other.url, 'TRUNCATE animals CASCADE');
          const insert = `INSERT INTO animals (name, name_key, category_id, status)
          SELECT name, name, category_id, status FROM unnest($1::text[], $2::bigint[], $3::text[]) AS drawn (name, category_id, status)`;
          const columns = (['name', 'categoryId', 'status'] as const).map((column) =>
            drawn.map((each) => each[column]),
          );
          await ask(database.url, insert, columns);
          const before = await exported('--format', format, ...switches);
          expect(await into(['import', '-'], before)).toMatchObject({ code: 0, stderr: '' });
          expect((await into(['export', ...switches])).stdout).toBe(before);
          const names = `SELECT array_agg(name ORDER BY id) AS names FROM animals`;
          expect(await ask(other.url, names)).toEqual([{ names: drawn.map((each) => each.name) }]);
        }),
        { numRuns: 5 },
      );
      await other.drop();
    },
  );

  it('for spreadsheets has a byte order mark and no cell that one would calculate, whatever separates cells there', async () => {
    const names = ['=HYPERLINK("https://evil.example")', '+1', '@SUM(A1)', '\t=1', ' =1', "'=1", '＝1', 'a;=1'];
    const lines = ['Rex', ...names].map((text) => JSON.stringify({ name: text, categoryId: -1 }));
    await importing(lines.join('\n'), '--format', 'ndjson');
    const file = await exported('--for-spreadsheets');
    expect(file.startsWith('\ufeffid,')).toBe(true);
    expect(file.split(/[,;\t\r\n"]/).filter((cell) => /^ *[=+\-@＝＋－＠]/u.test(cell))).toEqual([]);
    expect(file).toContain(",Rex,'-1,available");
    const exact = await exported('--format', 'ndjson');
    await ask(database.url, 'TRUNCATE animals CASCADE');
    expect(await importing(file)).toMatchObject({ code: 0 });
    expect(await exported('--format', 'ndjson')).toBe(exact);
  });

  it('writes a file whole, of no animals a header at most, and tells how many there are', async () => {
    expect([await exported(), await exported('--format', 'ndjson')]).toEqual([HEADER, '']);
    await importing(`${HEADER}${rows(2_500)}`);
    const path = await fileOf('animals.ndjson', 'old');
    const stdout = `2,500 animals written to ${path}\n`;
    expect(await animals(['export', path])).toEqual({ code: 0, stdout, stderr: '' });
    const lines = (await readFile(path, 'utf8')).split('\n');
    expect(lines).toHaveLength(2_501);
    expect(lines[0]).toBe('{"id":1,"name":"Animal 0","categoryId":0,"status":"sold"}');
    expect((await animals(['export', '/there/is/no/folder'])).stderr).toMatch(/can't be written \(ENOENT\)\n$/);
  });

  it('follows a link to its file, which keeps its mode, and touches no file or link beside it', async () => {
    await importing(`${HEADER}${rows(3)}`);
    const victim = await fileOf('victim', 'another file');
    await mkdir(join(folder.path, 'shared'));
    const real = await fileOf('shared/animals.csv', 'old');
    await chmod(real, 0o640);
    const link = join(folder.path, 'link.csv');
    await symlink('shared/animals.csv', link);
    for (const planted of [`${link}.part`, `${real}.part`]) await symlink(victim, planted);
    expect(await animals(['export', link])).toMatchObject({ code: 0, stderr: '' });
    expect(await readFile(real, 'utf8')).toBe(await exported());
    expect(await readFile(victim, 'utf8')).toBe('another file');
    expect((await stat(real)).mode & 0o777).toBe(0o640);
    expect(await readlink(link)).toBe('shared/animals.csv');
    expect((await readdir(join(folder.path, 'shared'))).sort()).toEqual(['animals.csv', 'animals.csv.part']);
  });

  it('refuses a link to nothing, and writes to what is no file', async () => {
    await importing(`${HEADER}${rows(3)}`);
    const link = join(folder.path, 'dangling.csv');
    await symlink('nowhere.csv', link);
    expect(await animals(['export', link])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('link to nothing'),
    });
    expect(await readlink(link)).toBe('nowhere.csv');
    expect(await animals(['export', '/dev/null'])).toMatchObject({ code: 0, stderr: '' });
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });
});

it('an import whose process is killed in its middle has added nothing, and can be repeated', async () => {
  const pipe = join(folder.path, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const importer = new Running(ANIMALS, ['import', pipe], { DATABASE_URL: database.ownerUrl });
  // The file never ends, so the import is in its middle until it is killed.
  const file = await open(pipe, 'w');
  await file.write(`${HEADER}${rows(5_000)}`);
  const others = `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  const sessions = () => ask<{ query: string }>(database.url, others);
  await until(async () => (await sessions()).some(({ query }) => query.includes('COPY imported_animals')));
  await importer.stop('SIGKILL');
  await file.close();
  // The server ends the session once it notices.
  await until(async () => (await sessions()).length === 0);
  expect(await count()).toBe(0);
  expect(await importing(`${HEADER}${rows(5_000)}`)).toMatchObject({ code: 0 });
  expect(await count()).toBe(5_000);
});
