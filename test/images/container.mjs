import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** QEMU of this machine, which runs the programs of another platform. */
const QEMU = '/usr/bin/qemu-aarch64-static';

/** $1 is the root, $2 a folder to be mounted or nothing, $3 QEMU or nothing, and the rest the command. */
const ISOLATE = `
  set -e
  root=$1 folder=$2 qemu=$3
  shift 3
  mount --bind "$root" "$root"
  mount -o remount,bind,ro "$root"
  mount --bind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  if [ -n "$folder$qemu" ]; then
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
  fi
  if [ -n "$folder" ]; then
    mkdir "$root/tmp/mounted"
    mount --bind "$folder" "$root/tmp/mounted"
  fi
  if [ -n "$qemu" ]; then
    cp "$qemu" "$root/tmp/qemu"
  fi
  exec "$@"`;

/** Where `folder` is in a container. */
export const MOUNTED = '/tmp/mounted';

/**
 * Starts a program in an image's files as an engine would: as the image's user, without new privileges, in its folder, with
 * its environment and a read-only root. The network is this machine's.
 */
export class Container {
  output = '';
  #child;
  #ended;

  /** @param image of `Builder.build` */
  constructor(image, command, { environment = {}, folder = '' } = {}) {
    const { User, WorkingDir, Env } = image.config;
    const [user, group] = User.split(':');
    const inside = [`--root=${image.files}`, `--wd=${WorkingDir}`, `--setgid=${group}`, `--setuid=${user}`];
    const isEmulated = image.architecture === 'arm64';
    const program = isEmulated ? ['/tmp/qemu', ...command] : command;
    const parameters = [image.files, folder, isEmulated ? QEMU : ''];
    const isolated = ['sh', '-c', ISOLATE, 'sh', ...parameters, 'unshare', ...inside, '--', ...program];
    const defaults = Object.fromEntries(Env.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
    this.#child = spawn('setpriv', ['--no-new-privs', '--clear-groups', 'unshare', '--mount', ...isolated], {
      env: { ...defaults, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (this.output += text));
    }
    this.#ended = once(this.#child, 'close').then(([code, signal]) => code ?? signal);
  }

  /** Its exit code, or the name of the signal that has ended it. */
  get ended() {
    return this.#ended;
  }

  get hasEnded() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  kill(signal) {
    this.#child.kill(signal);
  }

  /** Runs a program to its end and returns its output. */
  static async run(image, command, options) {
    const container = new Container(image, command, options);
    const code = await container.ended;
    if (code !== 0)
      throw new Error(`${image.target}: ${command.join(' ')} has ended with ${code}\n${container.output}`);
    return container.output;
  }
}
