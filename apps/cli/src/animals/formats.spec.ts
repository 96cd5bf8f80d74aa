import { describe, expect, it } from '@jest/globals';
import type { ImportRow } from '@adoption-store/domain';
import fc from 'fast-check';
import { readAsm3 } from './asm3.js';
import { readCsv } from './csv.js';
import { endingInRefusal, Omissions, type ReadRows } from './file-format.js';
import { elementsOf, type JsonText, UNKNOWN_SHAPE } from './json-elements.js';
import { piecesOf } from './lines.js';
import { readJson, readNdjson } from './ndjson.js';
import { readPetfinder } from './petfinder.js';

const IS_JSON =
  'is JSON, not CSV: name its format by --format json (an array of animals), ndjson (an animal a line) or petfinder';
const NOT_UTF8 = (probably: string) =>
  `is not valid UTF-8: save it as "CSV UTF-8", or name its encoding, probably by --encoding ${probably}`;
const NO_MARK = (encoding: string) => `is UTF-16 without a byte order mark: name it by --encoding ${encoding}`;
const WORKBOOK = 'is a spreadsheet, not text: save it as "CSV UTF-8"';
const CATEGORIES: Readonly<Record<string, bigint>> = { Dog: 1n, Cat: 2n, 'Small & Furry': 3n };

async function* chunksOf(bytes: Buffer, size: number) {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function read(format: ReadRows, file: string | Buffer, size = 5, encoding?: string) {
  const chunks = chunksOf(Buffer.from(file), size);
  const omissions = new Omissions();
  const rows: ImportRow[] = [];
  const reading = { omissions, categoryOf: (name: string) => CATEGORIES[name], encoding };
  for await (const part of endingInRefusal(format)(chunks, reading)) rows.push(...part);
  return { rows, omitted: Object.fromEntries(omissions.list()) };
}
const rowsOf = async (format: ReadRows, file: string | Buffer, size?: number, encoding?: string) =>
  (await read(format, file, size, encoding)).rows;
const animal = (line: number, name: string, categoryId: bigint, more: object = {}) => ({
  line,
  animal: { name, categoryId, ...more },
});

describe('a CSV', () => {
  it.each([
    ['with line feeds', '\n', ''],
    ['with carriage returns', '\r\n', ''],
    ['with a byte order mark and carriage returns alone', '\r', '\ufeff'],
  ])('%s is read in any order of columns, each row with the line on which it begins', async (_what, end, mark) => {
    const lines = ['status,name,categoryId,id', ',a,1,', 'sold,"b', '\t""b"" ",-9223372036854775808,7', '', ' c,é,3,'];
    for (const size of [1, 5, 1_000]) {
      expect(await rowsOf(readCsv, mark + lines.join(end), size)).toEqual([
        animal(2, 'a', 1n),
        animal(3, `b${end}\t"b" `, -(2n ** 63n), { id: 7n, status: 'sold' }),
        animal(6, 'é', 3n, { status: 'c' }),
      ]);
    }
  });

  it.each([
    ['a carriage return is no line end', 'name,categoryId\n"a\rb",1\nb\rc,2\n', ['a\rb', 'b\rc']],
    ['a lone line feed at its end is one too', 'categoryId,name\r1,a\r2,b\n', ['a', 'b']],
    ['both may end a line', 'categoryId,name\r\r\n1,a\r\r\n2,b\r\r\n', ['a', 'b']],
  ])('has the line end of its header: %s', async (_what, file, names) => {
    for (const size of [1, 1_000])
      expect(await rowsOf(readCsv, file, size)).toMatchObject(names.map((name) => ({ animal: { name } })));
  });

  it('takes outer spaces and the case of a cell for nothing, but of a name', async () => {
    const file = 'id,name,categoryId,status\n 7 , Mia , 1,Available\n ,Rex,2\t,\u00a0SOLD \n,Leo,3, \n';
    expect(await rowsOf(readCsv, file)).toEqual([
      animal(2, ' Mia ', 1n, { id: 7n, status: 'available' }),
      animal(3, 'Rex', 2n, { status: 'sold' }),
      animal(4, 'Leo', 3n),
    ]);
  });

  it.each([
    [',Mia,2\n', animal(2, 'Mia', 2n)],
    ['7,Mia,2\r\n', animal(2, 'Mia', 2n, { id: 7n })],
    [',Mia\n', { line: 2, refusal: 'categoryId must be an integer (the row has 2 fields, and the header 4)' }],
    [',Mia,2', { line: 2, refusal: 'has 3 fields, and the header 4' }],
  ])('whose last row is cut short to %j is read where what is missing may be empty', async (row, expected) => {
    for (const size of [1, 1_000])
      expect(await rowsOf(readCsv, `id,name,categoryId,status\n${row}`, size)).toEqual([expected]);
  });

  it.each([
    ...['1.5', '', '12345678901234567890'].map((text) => [text, 'categoryId must be an integer']),
    ['1,2', 'has 3 fields, and the header 2'],
  ])('with the number %j has that row refused alone', async (number, refusal) => {
    expect(await rowsOf(readCsv, `name,categoryId\na,1\nb,${number}\nc,3\n`)).toEqual([
      animal(2, 'a', 1n),
      { line: 3, refusal },
      animal(4, 'c', 3n),
    ]);
  });

  it('may have several columns of one name that is not read, and tells of a long name its beginning', async () => {
    const long = 'x'.repeat(2_000);
    expect(await read(readCsv, `name,Note,categoryId,note,${long}\na,1,1,2,3\n`)).toEqual({
      rows: [animal(2, 'a', 1n)],
      omitted: { Note: 1, note: 1, [`${'x'.repeat(100)}…`]: 1 },
    });
    expect(await rowsOf(readCsv, `name,"${long}\n",categoryId\n`)).toEqual([
      { line: 1, refusal: expect.stringMatching(/^has a line end in the name .{100,160}; what follows was not read$/) },
    ]);
  });

  it.each([
    ['', 1, 'should have the names of the columns'],
    ['name,status\na,sold\n', 1, 'lacks the column "categoryId" (the separator found is ",")'],
    ['name,categoryId,NAME\n', 1, 'has the column "NAME" twice'],
    ['"na\nme";categoryId\n', 1, 'has a line end in the name of the column that begins with "na"'],
    ['sep=;\r\nname;"category\nId"\r\n', 2, 'has a line end in the name of the column that begins with "category"'],
    ['[\n  {\n    "name": "a"\n  }\n]\n', 1, IS_JSON],
    ['name,categoryId\n"a,1\nb,2\n', 2, 'has a quote that is never closed'],
    ['name,categoryId\na,1\n"b"b,2\n', 3, 'has text behind a closing quote'],
    ['name,categoryId\n"a\n",1\nb"b,2\n', 4, 'has a quote in a field that does not begin with one'],
  ])('such as %j is refused from that line on', async (file, line, reason) => {
    expect((await rowsOf(readCsv, file)).at(-1)).toEqual({ line, refusal: `${reason}; what follows was not read` });
  });

  it.each([
    ['line', 'x'.repeat(2 ** 21), 'is longer than 1048576 bytes'],
    ['quoted field', `"${'x\n'.repeat(2 ** 20)}"`, 'is longer than 1048576 bytes: perhaps a quote is never closed'],
  ])('with an endless %s is refused from that line on', async (_what, endless, reason) => {
    expect(await rowsOf(readCsv, `name,categoryId\na,1\n${endless},2\n`, 2 ** 16)).toEqual([
      animal(2, 'a', 1n),
      { line: 3, refusal: `${reason}; what follows was not read` },
    ]);
  });
});

describe('a CSV that Excel has saved', () => {
  const file = (separator: string, end = '\r\n') =>
    [' Status,Name,,CATEGORYID,', ',é,,1,', ',,,,', ',b,,2,,,', ''].join(end).replaceAll(',', separator);
  const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

  it.each<[string, string | Buffer, number]>([
    ['with empty rows and columns, and headers in another case', file(','), 2],
    ['with the separator in its first line', `sep=;\r\n${file(';')}`, 3],
    ['as big-endian UTF-16', utf16(file('\t')).swap16(), 2],
    ['on an old Mac, with the separator in its first line', `sep=;\r${file(';', '\r')}`, 3],
  ])('%s is read', async (_what, bytes, line) => {
    for (const size of [1, 1_000])
      expect(await rowsOf(readCsv, bytes, size)).toEqual([animal(line, 'é', 1n), animal(line + 2, 'b', 2n)]);
  });

  it('as UTF-16 that is not valid is refused with the encoding that was found', async () => {
    const bytes = Buffer.concat([utf16('name,categoryId\na,1\n'), Buffer.from([0x00, 0xd8, 0x0a, 0x00])]);
    expect(await rowsOf(readCsv, bytes)).toEqual([
      animal(2, 'a', 1n),
      { line: 3, refusal: 'is not valid utf-16le; what follows was not read' },
    ]);
  });
});

/** Byte for byte. */
describe('the CSV of a program', () => {
  const ROWS = 'id,name,categoryId,status|,Mia,2,|,"Rex, the ""dog""",1,Available|9,"Zoë’s\nBär €",2,Sold|';
  const written = (separator: string, lineEnd: string, rows = ROWS) =>
    rows.replaceAll(/,(?! the)/g, separator).replaceAll('|', lineEnd);
  const utf8 = (text: string, mark = '') => Buffer.from(mark + text);
  const utf16 = (text: string) => Buffer.from(text, 'utf16le');
  /** The codes of `ë’ä€` as Windows and old Macs had them. */
  const inBytes = (text: string, codes: string) =>
    Buffer.from(
      text.replaceAll(/[ë’ä€]/g, (character) => codes.charAt('ë’ä€'.indexOf(character))),
      'latin1',
    );
  const WINDOWS = '\xeb\x92\xe4\x80';
  const MACINTOSH = '\x91\xd5\x8a\xdb';
  const QUOTED =
    '"id","name","categoryId","status"|,"Mia",2,|,"Rex, the ""dog""",1,"Available"|9,"Zoë’s\nBär €",2,"Sold"|';

  it.each<[string, string | undefined, Buffer]>([
    ['Excel in English, "CSV UTF-8"', undefined, utf8(written(',', '\r\n'), '\ufeff')],
    ['Excel in German, "CSV UTF-8"', undefined, utf8(written(';', '\r\n'), '\ufeff')],
    ['Excel in English, "CSV"', 'windows-1252', inBytes(written(',', '\r\n'), WINDOWS)],
    ['Excel, "Unicode Text"', undefined, utf16(`\ufeff${written('\t', '\r\n')}`)],
    ['Excel, "Unicode Text", whose encoding is named', 'utf-16le', utf16(`\ufeff${written('\t', '\r\n')}`)],
    ['Excel, "CSV (Macintosh)"', 'macintosh', inBytes(written(',', '\r'), MACINTOSH)],
    ['an old Mac that cuts rows short', undefined, utf8(written(',', '\r').replace('2,\r', '2\r'))],
    ['PowerShell, without a byte order mark', 'utf-16le', utf16(written(',', '\r\n'))],
    ['Google Sheets, which ends the last line with the file', undefined, utf8(written(',', '\r\n').slice(0, -2))],
    ['LibreOffice', undefined, utf8(written(',', '\n'))],
    ['LibreOffice, with all text quoted', undefined, utf8(written(';', '\n', QUOTED))],
  ])('%s is read', async (_program, encoding, bytes) => {
    for (const size of [1, 7, 1_000])
      expect(await rowsOf(readCsv, bytes, size, encoding)).toEqual([
        animal(2, 'Mia', 2n),
        animal(3, 'Rex, the "dog"', 1n, { status: 'available' }),
        animal(4, 'Zoë’s\nBär €', 2n, { id: 9n, status: 'sold' }),
      ]);
  });

  it.each<[string, Buffer, number, string]>([
    ['Excel in English', inBytes(written(',', '\r\n'), WINDOWS), 4, NOT_UTF8('windows-1252')],
    ['an old Mac', inBytes(written(',', '\r'), MACINTOSH), 4, NOT_UTF8('macintosh')],
    ['PowerShell', utf16(written(',', '\r\n')), 1, NO_MARK('utf-16le')],
    ['PowerShell, big-endian', utf16(written(',', '\r\n')).swap16(), 1, NO_MARK('utf-16be')],
    ['Excel, as a workbook', Buffer.from('PK\x03\x04\x14\0\x06\0\xe9', 'latin1'), 1, WORKBOOK],
    ['Excel of 2003', Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1'), 1, WORKBOOK],
  ])('%s that is neither UTF-8 nor marked says what it probably is', async (_program, bytes, line, reason) => {
    for (const size of [1, 1_000])
      expect((await rowsOf(readCsv, bytes, size)).at(-1)).toEqual({
        line,
        refusal: `${reason}; what follows was not read`,
      });
  });

  it('is refused if the encoding that is named contradicts its byte order mark', async () => {
    const refusal = 'begins with the byte order mark of utf-8: leave out --encoding; what follows was not read';
    expect(await rowsOf(readCsv, '\ufeffid,name', 1, 'windows-1252')).toEqual([{ line: 1, refusal }]);
  });

  it('has the apostrophes of --for-spreadsheets taken away, if only a spreadsheet writes such encodings or separators', async () => {
    const file = "name,categoryId\n'+1,'-1\n";
    expect(await rowsOf(readCsv, file, 5, 'windows-1252')).toEqual([animal(2, '+1', -1n)]);
    expect(await rowsOf(readCsv, file.replaceAll(',', ';'))).toEqual([animal(2, '+1', -1n)]);
    expect(await rowsOf(readCsv, file.replace("'-1", '-1'), 5, 'utf-8')).toEqual([animal(2, "'+1", -1n)]);
  });
});

describe('NDJSON', () => {
  it('is read line by line, and what has no field is counted', async () => {
    const file =
      '\ufeff{"name":"a","categoryId":-9223372036854775808}\r\n\n' +
      '{"breed":1.5,"id":9,"categoryId":9223372036854775807,"name":"\\u00e9\\n","status":"sold"}';
    expect(await rowsOf(readNdjson, file.replaceAll(/\r?\n/g, '\r'))).toMatchObject([{ line: 1 }, { line: 3 }]);
    expect(await read(readNdjson, file)).toEqual({
      rows: [animal(1, 'a', -(2n ** 63n)), animal(3, 'é\n', 2n ** 63n - 1n, { id: 9n, status: 'sold' })],
      omitted: { breed: 1 },
    });
  });

  it.each([
    ['[]', 'is not a JSON object'],
    ['{"name":"a","categoryId":1,}', /^is not JSON: .*position 27$/],
    ['{"name":"a","categoryId":1,"categoryId":2}', 'has the property "categoryId" twice'],
    ['{"name":"a","categoryId":"1"}', 'categoryId must be an integer'],
    ['{"name":null,"categoryId":1}', 'name must be a string'],
    ['{"__proto__":{"name":"a","categoryId":1}}', 'name must be a string'],
    [`{"name":${'['.repeat(500_000)}`, 'is nested too deeply'],
  ])('has the line %.60s refused alone', async (line, refusal) => {
    expect(await rowsOf(readNdjson, `${line}\n{"name":"b","categoryId":1}\n`, 2 ** 16)).toEqual([
      { line: 1, refusal: typeof refusal === 'string' ? refusal : expect.stringMatching(refusal) },
      animal(2, 'b', 1n),
    ]);
  });
});

describe('an export of ASM3', () => {
  const HEADER =
    'ANIMALID,ANIMALCODE,ANIMALNAME,ANIMALSPECIES,ANIMALDECEASEDDATE,ANIMALNOTFORADOPTION,ANIMALNONSHELTER';
  const file = (...rows: readonly string[]) => [`${HEADER},MOVEMENTTYPE,VACCINATIONTYPE`, ...rows, ''].join('\n');

  it('is read as ASM3 or a spreadsheet has saved it, and a species without a category is refused', async () => {
    const animals = file(
      '"1","S1","Rex","Dog","","0","0","0",""',
      '"","S1","Rex","","","","","","Rabies"',
      '"6","S6","Coco","Parrot","","0","0","",""',
      '"7","","No code","Dog","","0","0","",""',
      '8,S8,Ulf,Dog, ,0,0, 1',
    );
    expect(await rowsOf(readAsm3, animals)).toEqual([
      animal(2, 'Rex', 1n, { status: 'available' }),
      { line: 4, refusal: 'ANIMALSPECIES "Parrot" has no category' },
      animal(5, 'No code', 1n, { status: 'available' }),
      animal(6, 'Ulf', 1n, { status: 'sold' }),
    ]);
  });

  const COLUMNS =
    'ANIMALNAME,ANIMALSPECIES,MOVEMENTTYPE,ANIMALNOTFORADOPTION,ANIMALDECEASEDDATE,ANIMALNONSHELTER'.split(',');

  it.each(COLUMNS)('is refused without %s, because none of its animals would have it', async (missing) => {
    const left = COLUMNS.filter((column) => column !== missing);
    const animals = `${left.join()}\n${left.map(() => '').join()}\n`;
    expect(await rowsOf(readAsm3, animals)).toEqual([
      { line: 1, refusal: expect.stringContaining(`lacks the column "${missing}"`) },
    ]);
  });
});

describe('an array of animals', () => {
  it('is read exactly, however it is written, and so are several in one file', async () => {
    const file = '[{"id":9007199254740993,"name":"Rex","categoryId":-9223372036854775808,"tags":[{}]},\n{"name":7}]\n';
    const rex = { id: 9007199254740993n };
    for (const size of [1, 1_000])
      expect(await read(readJson, `${file}[]${file}{"name":"Mia",\n"categoryId":2}`, size)).toEqual({
        rows: [
          animal(1, 'Rex', -(2n ** 63n), rex),
          { line: 2, refusal: 'name must be a string' },
          animal(3, 'Rex', -(2n ** 63n), rex),
          { line: 4, refusal: 'name must be a string' },
          animal(5, 'Mia', 2n),
        ],
        omitted: { tags: 2 },
      });
  });

  it.each([
    ['[1]', UNKNOWN_SHAPE],
    ['"name"', UNKNOWN_SHAPE],
    ['{"a":1 2}', 'is not JSON: '],
    ['{"animals":[{"name":"Rex"}]}', 'is not an animal: if it is of Petfinder, use --format petfinder'],
  ])('is told from other JSON, such as %s', async (file, reason) => {
    const refusal = expect.stringContaining(reason);
    expect(await rowsOf(readJson, file)).toEqual([{ line: 1, refusal }]);
  });

  it('is not taken for an animal a line', async () => {
    const refusal = 'is an array, not an animal a line: name its format by --format json; what follows was not read';
    expect(await rowsOf(readNdjson, '\n [\n{"name":"Rex","categoryId":1}\n]')).toEqual([{ line: 1, refusal }]);
  });
});

describe('a file of Petfinder', () => {
  it('is mapped as the README says', async () => {
    const { rows, omitted } = await read(
      readPetfinder,
      `{"animals":[
        {"id":1,"name":"Rex","type":"Dog","species":"Dog","status":"adoptable","tags":[],"coat":null,"age":"Young"},
        {"id":2,"name":"Pip","type":"Small & Furry","species":"Gerbil","status":"found"},
        {"id":3,"name":"Mia","type":"Cat","species":"Cat","status":"adopted"},
        {"id":4,"name":"Leo","type":"Cat","species":"Cat","status":"gone"},
        {"id":5,"name":null,"type":"Cat","species":"Cat","status":"adopted"},
        {"id":6,"name":"Coco","type":"Bird","species":"Parrot","status":"adopted"},
        [7],
        {"id":8,"name":"Bo",}
      ],"pagination":{"total_count":8}}`,
    );
    expect(rows).toEqual([
      animal(2, 'Rex', 1n, { status: 'available' }),
      animal(3, 'Pip', 3n, { status: 'pending' }),
      animal(4, 'Mia', 2n, { status: 'sold' }),
      { line: 5, refusal: 'status must be one of adoptable, found, adopted' },
      { line: 6, refusal: 'name must be a string' },
      { line: 7, refusal: 'species "Parrot" has no category' },
      { line: 8, refusal: 'is not a JSON object' },
      { line: 9, refusal: expect.stringMatching(/^is not JSON: /) },
    ]);
    expect(omitted).toEqual({ id: 6, age: 1 });
  });

  it('may be the answer for one animal', async () => {
    const file = '{"animal":{"id":1,"name":"Rex","type":"Dog","species":"Dog","status":"found"}}';
    expect(await read(readPetfinder, file.repeat(2))).toEqual({
      rows: [animal(1, 'Rex', 1n, { status: 'pending' }), animal(1, 'Rex', 1n, { status: 'pending' })],
      omitted: { id: 2 },
    });
  });

  it.each(['{"pets":[{"name":"Rex"}]}', '{"animals":{"name":"Rex"}}', '7'])(
    'is told from other JSON such as %s, whose refusal names the known shapes',
    async (file) => {
      const shapes = 'known are {"animals":[…]}, {"animal":{…}}, an array of animals and an animal';
      expect(await rowsOf(readPetfinder, file)).toEqual([{ line: 1, refusal: expect.stringContaining(shapes) }]);
    },
  );
});

describe('the elements of a JSON file', () => {
  async function elements(text: string | Buffer, size = 7): Promise<readonly JsonText[]> {
    const found: JsonText[] = [];
    const characters = piecesOf(chunksOf(Buffer.from(text), size), '"');
    for await (const part of elementsOf(characters, 'animals')) found.push(...part);
    return found;
  }
  const values = async (text: string, size?: number) =>
    (await elements(text, size)).map((element): unknown => JSON.parse(element.text));
  const refusal = (line: number, message: string) => expect.objectContaining({ line, message });

  it('are those that JSON.parse finds, however it is written and wherever its chunks end', async () => {
    const element = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(element),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom(undefined, 1, '\t'),
        fc.integer({ min: 1, max: 100 }),
        async (animals, around, space, size) => {
          const other = { ...around, before: [{ animals: [1] }], animals, after: [[{}], 'animals', [1, 2]] };
          expect(await values(JSON.stringify(other, null, space), size)).toEqual(JSON.parse(JSON.stringify(animals)));
          expect(await values(JSON.stringify(animals, null, space), size)).toEqual(JSON.parse(JSON.stringify(animals)));
          const lines = animals.map((each) => JSON.stringify(each, null, space)).join('\n');
          if (animals.length > 0 && animals.every((each) => !('animals' in each))) {
            expect(await values(lines, size)).toEqual(JSON.parse(JSON.stringify(animals)));
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each(['\n', '\r\n', '\r'])('have the lines on which they begin, if lines end in %j', async (end) => {
    const text = '\ufeff{"animals":\n[\n{"a":\n"\\n"}, {\n}\n]}\n\n{"animals":[{"b":[]}]}\n{"c":\n1}';
    expect(await elements(text.replaceAll('\n', end))).toEqual([
      { line: 3, text: `{"a":${end}"\\n"}` },
      { line: 4, text: `{${end}}` },
      { line: 8, text: '{"b":[]}' },
      { line: 9, text: '{"c":1}' },
    ]);
  });

  it.each([
    [' \n', 1, 'has no JSON text'],
    ['\nname,categoryId', 2, UNKNOWN_SHAPE],
    ['[{}]]', 1, UNKNOWN_SHAPE],
    ['[{},\n{"a":1}', 2, 'ends within a JSON text'],
    ['[{"a":"', 1, 'ends within a JSON text'],
    ['[{} {}]', 1, UNKNOWN_SHAPE],
    ['[{},null]', 1, UNKNOWN_SHAPE],
    ['{"animals":[{}],"a":1 2}', 1, UNKNOWN_SHAPE],
  ] as const)('are refused in %j', async (text, line, reason) => {
    await expect(elements(text)).rejects.toThrow(refusal(line, reason));
  });

  it.each([
    ['one of them', '[{"a":"', '"}]'],
    ['what is around them', '{"animals":[],"a":"', '"}'],
  ])('are refused if %s is too long', async (_what, begin, end) => {
    const text = `${begin}${'x'.repeat(2 ** 20)}${end}`;
    await expect(elements(text, 2 ** 16)).rejects.toThrow(refusal(1, 'is longer than 1048576 bytes'));
  });
});
