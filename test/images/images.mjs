/**
 * `npm run images` builds each image with buildah, starts it by its entry point as a container would be, and prints the
 * sizes. `npm run images -- arm64` does so for the other platform, with QEMU. It needs root and Debian's buildah,
 * debootstrap, redis-server and, for arm64, qemu-user-static, but no registry of images: docker/images.md says what it
 * puts in the place of the Dockerfile's base images.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeBases } from './bases.mjs';
import { Builder } from './builder.mjs';
import { startDatabases } from './databases.mjs';
import { checkBackup, checkCommands, checkService } from './checks.mjs';

const MOST_BYTES = 120e6;

const [architecture = 'amd64'] = process.argv.slice(2);
const isForeign = architecture !== 'amd64';
// `backup` executes programs to find their libraries, so it is built on its own platform.
const targets = ['cli', 'api', 'portal', 'worker', ...(isForeign ? [] : ['backup'])];

if (!['amd64', 'arm64'].includes(architecture)) fail(`there is no ${architecture}, but amd64 and arm64`);
if (process.arch !== 'x64' || process.getuid() !== 0) fail('it needs root, on amd64');
for (const program of ['buildah', 'debootstrap', 'redis-server', ...(isForeign ? ['qemu-aarch64-static'] : [])]) {
  if (spawnSync('which', [program]).status !== 0) fail(`${program} is not installed`);
}

const folder = mkdtempSync(join(tmpdir(), 'images-'));
const builder = new Builder(folder);
process.once('exit', () => {
  builder.close();
  rmSync(folder, { recursive: true, force: true });
});

const { debian } = makeBases(folder, builder, architecture);
const images = targets.map((target) => builder.build(target, architecture));
const databases = await startDatabases(debian);
const tooLarge = [];
try {
  console.log('| Image | Compressed | Of its own | On disk | Ready after | Ended after | It ran |');
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  for (const image of images) {
    const check = { cli: checkCommands, backup: checkBackup }[image.target] ?? checkService;
    const { ready, ended, ran } = await check(image, databases);
    // The base and Node.js are the same layers in each image.
    const own = image.layers.slice(2).reduce((sum, bytes) => sum + bytes, 0);
    console.log(
      `| ${[image.target, ...[image.bytes, own, image.bytesOnDisk].map(inMegabytes), ready, ended, ran].join(' | ')} |`,
    );
    if (image.bytes > MOST_BYTES) tooLarge.push(image.target);
  }
} finally {
  await databases.close();
}
if (tooLarge.length > 0) fail(`larger than ${inMegabytes(MOST_BYTES)}: ${tooLarge.join(', ')}`);

function inMegabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function fail(reason) {
  console.error(`images: ${reason}`);
  process.exit(1);
}
