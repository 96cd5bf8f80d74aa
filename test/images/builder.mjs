import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

const root = join(import.meta.dirname, '../..');

/** buildah, with a storage of its own and without a container runtime. */
export class Builder {
  #folder;
  #mounted = [];

  constructor(folder) {
    this.#folder = folder;
  }

  /** Makes a base image of the files of a folder. */
  commit(name, files, settings = []) {
    const container = this.#buildah('from', 'scratch').trim();
    this.#buildah('add', '--quiet', container, files, '/');
    if (settings.length > 0) this.#buildah('config', ...settings, container);
    this.#buildah('commit', '--quiet', '--rm', container, `localhost/${name}`);
  }

  /** Gives images of several platforms one name. */
  list(name, images) {
    this.#buildah('manifest', 'create', `localhost/${name}`, ...images.map((each) => `localhost/${each}`));
  }

  /** Builds a target, and mounts its files. */
  build(target, architecture) {
    const begun = Date.now();
    const image = `localhost/adoption-store-${target}:${architecture}`;
    const bases = ['build', 'run', 'postgres'].flatMap((name) => [
      '--build-arg',
      `${name.toUpperCase()}_IMAGE=localhost/${name}`,
    ]);
    // buildah before 1.29 doesn't know the builder's own platform.
    bases.push('--build-arg', 'BUILDPLATFORM=linux/amd64');
    const options = [
      '--isolation=chroot',
      '--format=docker',
      '--layers',
      '--ulimit=nofile=8192:8192',
      `--platform=linux/${architecture}`,
    ];
    const file = join(root, 'docker/Dockerfile');
    this.#buildah('build', ...options, ...bases, '--file', file, '--target', target, '--tag', image, root);
    console.error(`${target} was built in ${Math.round((Date.now() - begun) / 1_000)} s`);
    const container = this.#buildah('from', '--pull-never', image).trim();
    this.#mounted.push(container);
    const files = this.#buildah('mount', container).trim();
    const { Docker } = JSON.parse(this.#buildah('inspect', '--type=image', image));
    const layers = this.#layersOf(image, target);
    return {
      target,
      architecture,
      files,
      config: Docker.config,
      layers,
      bytes: layers.reduce((sum, bytes) => sum + bytes, 0),
      bytesOnDisk: Number(run('du', ['--summarize', '--bytes', files]).split('\t')[0]),
    };
  }

  close() {
    // Mounted files can't be deleted. The overlay driver has also mounted its folder on itself.
    for (const container of this.#mounted) this.#buildah('umount', container);
    spawnSync('umount', ['--recursive', join(this.#folder, 'storage/overlay')]);
  }

  /** The sizes of the layers that a registry would get. */
  #layersOf(image, target) {
    const folder = join(this.#folder, `pushed-${target}`);
    mkdirSync(folder);
    this.#buildah('push', '--quiet', '--compression-format=gzip', image, `dir:${folder}`);
    const { layers } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
    return layers.map(({ size }) => size);
  }

  #buildah(...args) {
    const storage = ['--root', join(this.#folder, 'storage'), '--runroot', join(this.#folder, 'runtime')];
    return run('buildah', [...storage, ...args]);
  }
}
