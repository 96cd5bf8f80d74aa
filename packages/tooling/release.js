/**
 * `npm run release -- client 1.0.1`, in the repository's root, releases the apps, the domain or the client: it sets the
 * version everywhere, builds, runs the checks, commits and tags. It pushes nothing. See CONTRIBUTING.md.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const VERSIONS = 'packages/client/versions.json';
const WORKSPACES = ['apps', 'packages']
  .flatMap((parent) => readdirSync(parent).map((name) => `${parent}/${name}`))
  .concat('test')
  .map((folder) => `${folder}/package.json`);

/** What has a version: its tag without the version, its changelog, its checks, and the files that name the version. */
const RELEASES = {
  apps: {
    tag: 'v',
    changelog: '.github/CHANGELOG.md',
    files: [
      'package.json',
      ...WORKSPACES.filter((path) => read(path).includes('"private": true')),
      'apps/api/openapi.json',
      'apps/api/src/openapi/description.ts',
      'docker/.env.example',
      'docker/Dockerfile',
      'docker/README.md',
      'docker/compose.yaml',
      'docker/kubernetes/overlays/production/kustomization.yaml',
      'docker/without-containers.md',
    ],
    checks: ['npm run lint', 'npm test'],
  },
  domain: published('domain'),
  client: published('client'),
};

try {
  release(...process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

function published(name) {
  return {
    tag: `${name}-v`,
    changelog: `packages/${name}/CHANGELOG.md`,
    files: [`packages/${name}/package.json`, `packages/${name}/README.md`],
    checks: [`turbo run lint test --concurrency=1 --filter=@adoption-store/${name}`],
  };
}

function release(name, version, ...others) {
  if (!Object.hasOwn(RELEASES, name) || !/^\d+\.\d+\.\d+$/.test(version) || others.length > 0)
    throw new Error('Usage: npm run release -- apps|domain|client VERSION, such as: npm run release -- client 1.0.1');
  const tag = RELEASES[name].tag + version;
  refuseUnlessReady(name, version, tag);
  let artefact;
  try {
    setVersion(name, version);
    artefact = build(name, version);
    for (const check of RELEASES[name].checks) run(check);
    if (git('status', '--porcelain') !== '')
      git('commit', '--quiet', '--all', '-m', `build(${name}): release ${version}`);
    git('tag', '--annotate', tag, '-m', `${name} ${version}`);
  } catch (error) {
    git('restore', '.');
    throw new Error(`${error.message}\nNothing is released, and the files are as before.`, { cause: error });
  }
  console.log(`${artefact}\nTagged ${tag}, here alone. To publish it: git push --atomic origin main ${tag}`);
}

function refuseUnlessReady(name, version, tag) {
  const { changelog } = RELEASES[name];
  if (git('status', '--porcelain') !== '')
    throw new Error('Commit or stash your changes first; git status lists them.');
  const branch = git('branch', '--show-current');
  if (branch !== 'main') throw new Error(`Releases are made on main, and this is ${branch || 'no branch'}.`);
  if (isTagged(tag)) throw new Error(`${version} has been released: the tag ${tag} exists.`);
  const present = versionOf(name);
  const [major, minor, patch] = present.split('.').map(Number);
  const next = [`${major}.${minor}.${patch + 1}`, `${major}.${minor + 1}.0`, `${major + 1}.0.0`];
  // The very first release, or a version that was raised with its change.
  if (!isTagged(RELEASES[name].tag + present)) next.unshift(present);
  if (!next.includes(version)) throw new Error(`The next version is one of ${next.join(', ')}, not ${version}.`);
  const section = new RegExp(`^## \\[${literal(version)}\\] - \\d{4}-\\d\\d-\\d\\d\\n+(?!## )\\S`, 'm');
  if (!section.test(read(changelog)))
    throw new Error(`${changelog} needs a section "## [${version}] - YYYY-MM-DD" that says what changes for users.`);
  // Until a version of the client has a tag, its bytes may still change, and the portal serves them.
  const client = RELEASES.client.tag + versionOf('client');
  if (name === 'apps' && !isTagged(client))
    throw new Error(`Release the client first: the portal serves it, and its tag ${client} is missing.`);
}

function setVersion(name, version) {
  const present = versionOf(name);
  for (const path of RELEASES[name].files) {
    // Dependencies may have the same version as ours, so JSON files are changed at their property alone.
    const [before, after] = path.endsWith('.json') ? ['(?<="version": ")', '(?=")'] : ['(?<![\\d.])', '(?!\\.?\\d)'];
    replace(path, new RegExp(before + literal(present) + after, 'g'), version);
  }
  const range = new RegExp(`(?<="@adoption-store/${name}": "\\^)[\\d.]+`, 'g');
  // The ranges change with the major version alone, so that other releases leave the other packages as they are.
  if (version.split('.')[0] !== present.split('.')[0]) for (const path of WORKSPACES) replace(path, range, version);
  // Offline, so that nothing else changes in the lock file.
  run('npm install --package-lock-only --offline --no-audit --loglevel=error');
}

/** Builds what is given to people, and returns a line that says where it is. */
function build(name, version) {
  if (name === 'apps') {
    const images = new Set(read('docker/compose.yaml').match(/adoption-store-\w+(?=:\$)/g));
    return `Images to build, by docker/README.md: ${[...images].map((image) => `${image}:${version}`).join(', ')}`;
  }
  if (name === 'domain') {
    run('turbo run build --filter=@adoption-store/domain');
    run('npm pack --silent -w @adoption-store/domain');
    return `Packed adoption-store-domain-${version}.tgz`;
  }
  // The portal's build packs the client.
  run('turbo run build --filter=@adoption-store/portal');
  const file = `apps/portal/dist/adoption-store-client-${version}.tgz`;
  const hash = createHash('sha512').update(readFileSync(file)).digest('base64');
  const versions = JSON.parse(read(VERSIONS));
  versions[version] = `sha512-${hash}`;
  writeFileSync(VERSIONS, `${JSON.stringify(versions, null, 2)}\n`);
  return `Packed ${file}`;
}

function versionOf(name) {
  return JSON.parse(read(RELEASES[name].files[0])).version;
}

function isTagged(tag) {
  return git('tag', '--list', tag) !== '';
}

function replace(path, pattern, text) {
  writeFileSync(path, read(path).replaceAll(pattern, text));
}

function literal(text) {
  return text.replaceAll('.', '\\.');
}

function read(path) {
  return readFileSync(path, 'utf8');
}

function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}

function run(command) {
  console.log(`> ${command}`);
  const [program, ...args] = command.split(' ');
  try {
    execFileSync(program, args, { stdio: 'inherit' });
  } catch (error) {
    throw new Error(`This failed: ${command}`, { cause: error });
  }
}
