import { writeSync } from 'node:fs';
import { tell } from './tell.js';

/** The exit code of wrong usage (EX_USAGE in sysexits.h). */
export const EXIT_USAGE = 64;

/** The exit code if some output could not be written (EX_IOERR in sysexits.h). What was done stays done. */
export const EXIT_OUTPUT = 74;

/** Whether the arguments ask for help, which is given before anything is done. */
export function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).some((arg) => arg === '--help' || arg === '-h');
}

/** For a program without arguments: exits with the usage if there are any. --help and -h print the usage. */
export function takeNoArguments(usage: string): void {
  const args = process.argv.slice(2);
  if (args.length === 0) return;
  if (asksForHelp(args)) printAndExit(usage);
  tell(`${usage}\nthis program takes no arguments`);
  process.exit(EXIT_USAGE);
}

function printAndExit(usage: string): never {
  try {
    writeSync(process.stdout.fd, usage);
  } catch (error) {
    tell(`the usage could not be written: ${String(error)}`);
    process.exit(EXIT_OUTPUT);
  }
  process.exit(0);
}
