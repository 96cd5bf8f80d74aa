import { randomUUID } from 'node:crypto';
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { chmod, type FileHandle, lstat, open, realpath, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Application, nameKey, escapeInvisible, type ImportReport, MAX_PAGE_SIZE } from '@adoption-store/domain';
import { type Command, DataError, parse, type Program, UsageError } from '../command-line.js';
import { codeOf, counted, grouped, isSystemError, OutputError, withProgress } from '../output.js';
import { readAsm3 } from './asm3.js';
import { readCsv, writeCsv, writeSpreadsheetCsv } from './csv.js';
import { encodingNamed } from './encodings.js';
import { endingInRefusal, Omissions } from './file-format.js';
import { readJson, readNdjson, writeNdjson } from './ndjson.js';
import { readPetfinder } from './petfinder.js';

const READERS = { csv: readCsv, ndjson: readNdjson, json: readJson, asm3: readAsm3, petfinder: readPetfinder } as const;
const WRITERS = { csv: writeCsv, ndjson: writeNdjson } as const;
const FORMATS_BY_ENDING: ReadonlyMap<string, string> = new Map([
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
  ['json', 'json'],
]);
/** Formats that name a species instead of a category. */
const FOREIGN: readonly string[] = ['asm3', 'petfinder'] satisfies (keyof typeof READERS)[];

const USAGE = `Usage:
  npm run -s animals -- import FILE|- [--format ${Object.keys(READERS).join('|')}]
                              [--encoding NAME] [--categories NAME=ID,…]
                              [--dry-run]
      adds the animals of a file, or of standard input, all of them or none.
      A refused row is named by its line, and the exit code is 65. Animals that
      have no id in the file get new ones: a second import adds them again.
      --encoding is for a file that isn't UTF-8 and has no byte order mark: any
      name of the Encoding Standard, such as windows-1252 (Excel's "CSV" in
      Western Europe), macintosh or utf-16le.
      --categories gives species their categories, for asm3 and petfinder. Any
      other species gets the category of the same name.
      --dry-run checks everything and adds nothing.
  npm run -s animals -- export [FILE|-] [--format ${Object.keys(WRITERS).join('|')}]
                              [--for-spreadsheets]
      writes all animals to a file, or to standard output, exactly.
      --for-spreadsheets is for a csv that Excel or another spreadsheet opens:
      an apostrophe keeps it from calculating a name such as =1+1. import takes
      the apostrophe away again.
  csv and ndjson (an animal a line) are what export writes; json is an array of
  animals, or several. Without --format a file that ends in .ndjson or .jsonl is
  ndjson, one in .json is json, and any other csv.
`;

export const animalCommands: Program = { commands: { import: importCommand, export: exportCommand }, usage: USAGE };

function importCommand(args: string[]): Command {
  const { values, positionals, isOn } = parse(
    args,
    ['format', 'encoding', 'categories'],
    ['FILE, or - for standard input,'],
    ['dry-run'],
  );
  const [file = '-'] = positionals;
  const format = formatOf(READERS, values['format'], file);
  const named = categoriesIn(values['categories'], format);
  const encoding = encodingIn(values['encoding']);
  return async ({ importAnimals, listCategories }, { streams: { stdin, stderr } }) => {
    const omissions = new Omissions();
    const known = FOREIGN.includes(format) ? await categoriesOf(listCategories) : new Map<string, bigint>();
    const categoryOf = (name: string) => named.get(speciesKey(name)) ?? known.get(name) ?? known.get(speciesKey(name));
    const input = file === '-' ? stdin : readFile(file);
    const rows = endingInRefusal(READERS[format])(input, { omissions, categoryOf, encoding });
    let [read, isWhole] = [0, false];
    async function* countedRows(): typeof rows {
      for await (const part of rows) {
        read += part.length;
        yield part;
      }
      isWhole = true;
    }
    const report = await withProgress(
      stderr,
      () => `${counted(read, 'row')} read${isWhole ? ', checking and storing them' : ''}`,
      () => importAnimals.execute({ rows: countedRows(), isDryRun: isOn('dry-run') }),
    );
    if (report.refused.count > 0) throw refusal(report);
    return summary(report, omissions);
  };
}

function exportCommand(args: string[]): Command {
  const { values, positionals, isOn } = parse(args, ['format'], ['FILE…'], ['for-spreadsheets']);
  const [file = '-', ...more] = positionals;
  if (more.length > 0) throw new UsageError('one FILE at most');
  const format = formatOf(WRITERS, values['format'], file);
  if (isOn('for-spreadsheets') && format !== 'csv') throw new UsageError('--for-spreadsheets goes with --format csv');
  const write = isOn('for-spreadsheets') ? writeSpreadsheetCsv : WRITERS[format];
  return async ({ exportAnimals }) => {
    let count = 0;
    async function* animals(): ReturnType<typeof exportAnimals.execute> {
      for await (const part of exportAnimals.execute()) {
        count += part.length;
        yield part;
      }
    }
    if (file === '-') return { texts: () => write(animals()), isContent: true };
    await writeFile(file, write(animals()));
    return `${counted(count, 'animal')} written to ${file}\n`;
  };
}

function formatOf<Format extends string>(
  formats: Readonly<Record<Format, unknown>>,
  named: string | undefined,
  file: string,
): Format {
  const [, ending = ''] = /\.(\w+)$/.exec(file.toLowerCase()) ?? [];
  const format = named ?? FORMATS_BY_ENDING.get(ending) ?? 'csv';
  if (Object.hasOwn(formats, format)) return format as Format;
  throw new UsageError(`--format must be one of ${Object.keys(formats).join(', ')}`);
}

function encodingIn(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  const encoding = encodingNamed(label);
  if (encoding === undefined)
    throw new UsageError('--encoding must be one such as windows-1252, macintosh or utf-16le');
  return encoding;
}

/** Parses NAME=ID pairs, separated by commas. A name may have a comma itself: Petfinder's "Scales, Fins & Other". */
function categoriesIn(text: string | undefined, format: keyof typeof READERS): ReadonlyMap<string, bigint> {
  if (text === undefined) return new Map();
  if (!FOREIGN.includes(format)) throw new UsageError(`--categories goes with --format ${FOREIGN.join(' or ')}`);
  if (!/^([^=]+=-?\d{1,19}(,|$))+$/.test(text)) throw new UsageError('--categories must be as "Dog=1,Cat=2"');
  const pairs = [...text.matchAll(/([^=]+)=(-?\d+)(?:,|$)/g)];
  return new Map(pairs.map(([, name = '', id = '']) => [speciesKey(name), BigInt(id)]));
}

/** Species are compared without regard to case, outer spaces and Unicode normal form. */
function speciesKey(name: string): string {
  return nameKey(name.trim().normalize('NFC'));
}

/** The ids of all categories by name and by `speciesKey`. */
async function categoriesOf(listCategories: Application['listCategories']): Promise<ReadonlyMap<string, bigint>> {
  const ids = new Map<string, bigint>();
  for (let after: bigint | undefined; ;) {
    const { items, next } = await listCategories.execute({ after, limit: MAX_PAGE_SIZE });
    // Names that differ only in their normal form have the same key, so the exact names are in the map, too.
    for (const { id, name } of items) ids.set(speciesKey(name), id).set(name, id);
    if (next === undefined) return ids;
    after = next;
  }
}

async function* readFile(file: string): AsyncGenerator<Buffer> {
  try {
    // With Node's default of 64 KiB, an import of a million animals needed 10 MB more.
    yield* createReadStream(file, { highWaterMark: 2 ** 14 }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw new Error(`${file} can't be read (${codeOf(error)})`, { cause: error });
  }
}

/** @throws OutputError with one sentence */
async function writeFile(file: string, text: AsyncIterable<string>): Promise<void> {
  try {
    const old = await openedToWrite(file);
    if (old === undefined) {
      await writeWhole(file, text);
      return;
    }
    const stats = await old.stat();
    if (!stats.isFile()) {
      await pipeline(Readable.from(text), old.createWriteStream());
      return;
    }
    await old.close();
    await writeWhole(await realpath(file), text, stats.mode & 0o777);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new OutputError(`${file} can't be written (${codeOf(error)})`, { cause: error });
  }
}

/** Undefined if there is no such file. */
async function openedToWrite(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, constants.O_WRONLY);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const link = await lstat(file).catch(() => undefined);
    if (link === undefined) return undefined;
    throw new Error(`${file} is a link to nothing`, { cause: error });
  }
}

/**
 * Renames a draft, so that readers see the old file or the complete new one. Nobody can have planted its name.
 *
 * @param mode of the old file
 */
async function writeWhole(file: string, text: AsyncIterable<string>, mode?: number): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await pipeline(
      Readable.from(text),
      createWriteStream(draft, { flags: 'wx', mode: mode === undefined ? 0o666 : 0o600, flush: true }),
    );
    if (mode !== undefined) await chmod(draft, mode);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

function refusal({ refused: { first, count } }: ImportReport): DataError {
  const lines = first.map(({ line, reason }) => `line ${line}: ${escapeInvisible(reason)}`);
  if (count > first.length) lines.push(`… and ${grouped(count - first.length)} more`);
  return new DataError([...lines, `${counted(count, 'row')} refused: nothing was added`].join('\n'));
}

function summary({ isStored, withId, withoutId, newIds }: ImportReport, omissions: Omissions): string {
  const ids = newIds === undefined ? '' : `, ${newIds.join(' to ')}`;
  const omitted = omissions.list().map(([what, count]) => `  ${escapeInvisible(what)}: ${grouped(count)}\n`);
  const none =
    omissions.rows === 0
      ? 'the file has no rows'
      : `the file has ${counted(omissions.rows, 'row')}, and none is an animal to add`;
  return [
    `${counted(withId + withoutId, 'animal')} ${isStored ? 'added' : 'would be added: this was a dry run'}\n`,
    ...(withId + withoutId === 0 ? [`  ${none}\n`] : []),
    ...(withId > 0 ? [`  with an id of the file: ${grouped(withId)}\n`] : []),
    ...(withoutId > 0 ? [`  with a new id: ${grouped(withoutId)}${ids}\n`] : []),
    ...(omitted.length > 0 ? ['There is no field here for\n', ...omitted] : []),
  ].join('');
}
