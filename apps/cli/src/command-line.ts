import { parseArgs } from 'node:util';
import {
  asksForHelp,
  ConfigError,
  EXIT_CONFIG,
  EXIT_OUTPUT,
  EXIT_USAGE,
  loadEnvFile,
  readSettings,
  storeSettings,
} from '@adoption-store/config';
import {
  type Account,
  type Application,
  createApplication,
  DomainError,
  escapeInvisible,
  type Instant,
  isProven,
  type Plan,
  plan,
  type PlanName,
  readScopes,
  type Scopes,
  reasonOf,
  typedAddress,
} from '@adoption-store/domain';
import { openStore } from '@adoption-store/store';
import {
  failureToPrint,
  type Output,
  OutputError,
  printable,
  show,
  type Streams,
  surviveFailedWrites,
} from './output.js';

// EX_DATAERR of sysexits.h
const EXIT_DATA = 65;

export class UsageError extends Error {}

export class DataError extends Error {}

/** A command's work. Its result is printed. */
export type Command = (application: Application, surroundings: Surroundings) => Promise<Output>;

export interface Surroundings {
  readonly now: () => Instant;
  /**
   * An account's address with invisible characters escaped, and "(unproven)" if addresses are proven but this one
   * isn't.
   */
  readonly nameOf: (account: Account) => string;
  readonly streams: Streams;
}

export interface Program {
  /** The commands by name. Each parses the arguments after its name. */
  readonly commands: Readonly<Record<string, (args: string[]) => Command>>;
  readonly usage: string;
}

export async function runProgram(program: Program): Promise<void> {
  surviveFailedWrites(process);
  const environment = () => {
    loadEnvFile();
    return process.env;
  };
  process.exitCode = await runCommand(program, process.argv.slice(2), environment, process);
}

/** Runs the command that the arguments name, and resolves to the exit code. */
export async function runCommand(
  { commands, usage }: Program,
  args: readonly string[],
  environment: () => NodeJS.ProcessEnv,
  streams: Streams,
): Promise<number> {
  try {
    if (asksForHelp(args)) await printUsage(usage, streams);
    else await run(commandOf(commands, decoded(args)), environment(), streams);
    return 0;
  } catch (error) {
    return complain(error, usage, streams);
  }
}

async function printUsage(usage: string, { stdout }: Streams): Promise<void> {
  const failure = await failureToPrint(usage, stdout, 'it is incomplete');
  if (failure !== undefined) throw failure;
}

/** Node.js decodes the arguments before anybody can check their bytes, and replaces those that are not UTF-8. */
function decoded(args: readonly string[]): readonly string[] {
  const place = args.findIndex((arg) => arg.includes('\ufffd'));
  if (place === -1) return args;
  throw new UsageError(`argument ${place + 1} is not UTF-8, or has U+FFFD, which stands for bytes that are not`);
}

function commandOf(commands: Program['commands'], [name, ...rest]: readonly string[]): Command {
  if (name === undefined) throw new UsageError('a command is missing');
  const read = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (read === undefined) throw new UsageError(`there is no command ${JSON.stringify(name)}`);
  return read(rest);
}

async function run(command: Command, environment: NodeJS.ProcessEnv, streams: Streams): Promise<void> {
  const settings = readSettings(storeSettings, environment);
  const { ports, policy, close } = await openStore({ ...settings, DATABASE_POOL_SIZE: 2 }, () => undefined);
  try {
    const application = createApplication(ports, policy);
    const provesAddresses = await application.sendsMail.execute();
    // Printed while the store is open, so that a key that can't be shown can be revoked.
    await show(
      await command(application, {
        now: () => ports.clock.now(),
        nameOf: (account) => {
          const name = escapeInvisible(account.email);
          return !provesAddresses || isProven(account) ? name : `${name} (unproven)`;
        },
        streams,
      }),
      application,
      streams,
    );
  } finally {
    await close();
  }
}

function complain(error: unknown, usage: string, { stderr }: Streams): number {
  const isUsage = error instanceof UsageError || (error instanceof DomainError && error.kind === 'invalid');
  const text = reasonOf(error);
  const isUnproven = error instanceof DomainError && error.code === 'address_unproven';
  const message = isUnproven ? `${text}; pass --unproven to do it anyway` : text;
  // The reason last: it is what a terminal still shows of a long usage.
  stderr.write(printable(isUsage ? `${usage}\n${message}\n` : `${message}\n`));
  if (isUsage) return EXIT_USAGE;
  if (error instanceof DataError) return EXIT_DATA;
  if (error instanceof OutputError) return EXIT_OUTPUT;
  return error instanceof ConfigError ? EXIT_CONFIG : 1;
}

type OptionValues = Readonly<Record<string, string | undefined>>;

export function addressOf(email: string | undefined): string {
  if (email === undefined) throw new UsageError('the e-mail address of an account is required');
  return asUsage(() => typedAddress(email));
}

export function idOf(text: string | undefined): bigint {
  if (text === undefined || !/^[1-9]\d{0,17}$/.test(text))
    throw new UsageError('ID must be a number, as `list` shows it');
  return BigInt(text);
}

/** The plan of that name; an enterprise plan takes its two limits from the options. */
export function planOf(name: string, values: OptionValues): Plan {
  const perMinute = numberIn(values, 'per-minute');
  const perDay = numberIn(values, 'per-day');
  const limits = { ...(perMinute !== undefined && { perMinute }), ...(perDay !== undefined && { perDay }) };
  return asUsage(() => plan(name as PlanName, limits));
}

/** `all`, or scopes separated by commas. */
export function scopesOf(text: string): Scopes {
  return asUsage(() => readScopes(text));
}

/**
 * @param options names of the options that take a value.
 * @param positionals names of the positional arguments, for error messages. If the last one ends in `…`, any number may
 * follow.
 * @param switches names of the options without a value.
 */
export function parse(
  args: string[],
  options: readonly string[],
  positionals: readonly string[] = [],
  switches: readonly string[] = [],
) {
  const types = [
    ...options.map((name) => [name, 'string'] as const),
    ...switches.map((name) => [name, 'boolean'] as const),
  ];
  const parsed = asUsage(() =>
    parseArgs({
      args,
      options: Object.fromEntries(types.map(([name, type]) => [name, { type }])),
      allowPositionals: positionals.length > 0,
    }),
  );
  if (parsed.positionals.length !== positionals.length && positionals.at(-1)?.endsWith('…') !== true)
    throw new UsageError(`${positionals.join(' and ')} is required`);
  const texts = Object.entries(parsed.values).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const values: OptionValues = Object.fromEntries(texts);
  return { values, positionals: parsed.positionals, isOn: (name: string) => parsed.values[name] === true };
}

/** The arguments of a list. Every list has --json. */
export function parseList(args: string[], options: readonly string[], switches: readonly string[] = []) {
  const { values, isOn } = parse(args, options, [], [...switches, 'json']);
  return { values, isOn, isJson: isOn('json') };
}

/** Does the work for each id, and returns what to print. If it fails for one, it is still done for the others. */
export async function* eachOf(ids: readonly string[], work: (id: string) => Promise<string>): AsyncGenerator<string> {
  const refusals: string[] = [];
  for (const id of ids) {
    try {
      yield await work(id);
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind === 'unavailable') throw error;
      refusals.push(error.message);
    }
  }
  if (refusals.length > 0) throw new Error(refusals.join('\n'));
}

export function asUsage<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new UsageError(reasonOf(error));
  }
}

/** The whole number of an option, if it is given. */
export function numberIn(values: OptionValues, option: string): number | undefined {
  const text = values[option];
  if (text !== undefined && !/^\d{1,10}$/.test(text)) throw new UsageError(`--${option} must be a whole number`);
  return text === undefined ? undefined : Number(text);
}
