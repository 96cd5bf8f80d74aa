/**
 * `node pack.js FOLDER` packs the built client into FOLDER, with the files of `npm pack`. Its bytes depend on the files'
 * names and contents alone, because lock files pin them: npm's depend on the umask, and zlib's on its version and the
 * processor. So nothing is compressed.
 */
import { Buffer } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

const BLOCK = 512;
/** The most that a stored block of DEFLATE has (RFC 1951). */
const STORED = 0xff_ff;
/** As npm's: zip files can't have an earlier year. */
const MODIFIED = Date.UTC(1985, 9, 26, 8, 15) / 1_000;

const [folder] = process.argv.slice(2);
const client = import.meta.dirname;
const read = (path) => readFileSync(join(client, path));
const { version } = JSON.parse(read('package.json'));
const packed = /^adoption-store-client-.*\.tgz$/;

mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder).filter((each) => packed.test(each))) rmSync(join(folder, name));
writeFileSync(join(folder, `adoption-store-client-${version}.tgz`), gzip(tar(files())));

function files() {
  const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: client,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const paths = JSON.parse(listed)[0].files.map(({ path }) => path);
  return paths.filter((path) => !isStale(path)).sort();
}

/** Whether it was compiled of a source that has gone since. */
function isStale(path) {
  const [, name] = /^dist\/(.+?)(?:\.d)?\.[jt]s(?:\.map)?$/.exec(path) ?? [];
  return name !== undefined && !existsSync(join(client, 'src', `${name}.ts`));
}

/** The format of POSIX (ustar). */
function tar(paths) {
  const entries = paths.flatMap((path) => {
    const content = read(path);
    return [header(`package/${path}`, content.length), content, Buffer.alloc(-content.length & (BLOCK - 1))];
  });
  return Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]);
}

function header(name, size) {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long`);
  const block = Buffer.alloc(BLOCK);
  const octal = (number, length) => `${number.toString(8).padStart(length - 1, '0')}\0`;
  const fields = [octal(0o644, 8), octal(0, 8), octal(0, 8), octal(size, 12), octal(MODIFIED, 12), ' '.repeat(8), '0'];
  block.write(name, 0);
  block.write(fields.join(''), 100);
  block.write('ustar\0' + '00', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** RFC 1952, of stored blocks. */
function gzip(bytes) {
  const parts = [Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])];
  for (let start = 0; start < bytes.length; start += STORED) {
    const part = bytes.subarray(start, start + STORED);
    const head = Buffer.alloc(5);
    head.writeUInt8(start + STORED >= bytes.length ? 1 : 0, 0);
    head.writeUInt16LE(part.length, 1);
    head.writeUInt16LE(STORED - part.length, 3);
    parts.push(head, part);
  }
  const end = Buffer.alloc(8);
  end.writeUInt32LE(crc32(bytes), 0);
  end.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([...parts, end]);
}
