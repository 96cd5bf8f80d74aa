import { parseArgs } from 'node:util';
import { ConfigError, EXIT_CONFIG, loadEnvFile, readSettings, storeSettings } from '@adoption-store/config';
import {
  type AccountKey,
  type ApiKey,
  type Application,
  createApplication,
  describePlan,
  DomainError,
  emailAddress,
  DAY,
  HOUR,
  type Instant,
  keyState,
  later,
  type Plan,
  plan,
  PLAN_NAMES,
  type PlanName,
} from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';

const LONGEST_LIFE = 3_650; // days
const EXIT_USAGE = 64; // EX_USAGE of sysexits.h
const PLAN_OPTIONS = ['plan', 'per-minute', 'per-day'] as const;
const USAGE = `Usage:
  npm run -s keys -- create --email ADDRESS [--plan ${PLAN_NAMES.join('|')}]
                            [--per-minute N --per-day N] [--name TEXT]
                            [--expires-in DAYS]
      prints a new API key, alone, on standard output; it is never shown again.
      An account is opened for the address if there is none, on the plan free
      unless another is given; enterprise takes --per-minute and --per-day.
      The key works for 1 to ${LONGEST_LIFE} days, without --expires-in for ever.
  npm run -s keys -- plan --email ADDRESS --plan ${PLAN_NAMES.join('|')}
                          [--per-minute N --per-day N]
      puts an account on another plan, from its next request on.
  npm run -s keys -- list [--email ADDRESS]
      shows each key as active, rotated (it works until it expires, beside its
      replacement), expired or revoked.
  npm run -s keys -- revoke ID
  npm run -s keys -- rotate ID [--overlap HOURS]
      prints a new key in place of the old one, which goes on for 24 hours
      unless another overlap is given.
`;

class UsageError extends Error {}

/** What a command does with the application; what it returns is printed. */
type Command = (application: Application, now: () => Instant) => Promise<string>;

loadEnvFile();
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const output = await run(commandOf(args));
    process.stdout.write(output);
    return 0;
  } catch (error) {
    return complain(error);
  }
}

async function run(command: Command): Promise<string> {
  const settings = readSettings(storeSettings, process.env);
  const { ports, close } = await openInfrastructure({
    databaseUrl: settings.DATABASE_URL,
    dataDirectory: settings.DATA_DIR,
    poolSize: 2,
  });
  try {
    const application = createApplication(ports, { keyEnvironment: settings.KEY_ENVIRONMENT });
    return await command(application, () => ports.clock.now());
  } finally {
    await close();
  }
}

function complain(error: unknown): number {
  const isUsage = error instanceof UsageError || (error instanceof DomainError && error.kind === 'invalid');
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(isUsage ? `${message}\n\n${USAGE}` : `${message}\n`);
  if (isUsage) return EXIT_USAGE;
  return error instanceof ConfigError ? EXIT_CONFIG : 1;
}

function commandOf(args: readonly string[]): Command {
  const [name, ...rest] = args;
  switch (name) {
    case 'create':
      return create(rest);
    case 'plan':
      return changePlan(rest);
    case 'list':
      return list(rest);
    case 'revoke':
      return revoke(rest);
    case 'rotate':
      return rotate(rest);
    default:
      throw new UsageError(name === undefined ? 'a command is missing' : `there is no command ${JSON.stringify(name)}`);
  }
}

function create(args: string[]): Command {
  const { values } = parse(args, ['email', ...PLAN_OPTIONS, 'name', 'expires-in'], 0);
  const { name } = values;
  const email = addressOf(values);
  const asked = planOf(values);
  const days = values['expires-in'] === undefined ? undefined : wholeNumber('--expires-in', values['expires-in']);
  if (days !== undefined && !(days >= 1 && days <= LONGEST_LIFE)) {
    throw new UsageError(`--expires-in must be 1 to ${LONGEST_LIFE} days`);
  }
  return async ({ openAccount, issueKey }, now) => {
    // The address and the plan are fine by themselves, so that what is left to be wrong is that they don't go together.
    const account = await openAccount.execute({ email, plan: asked }).catch(adding('`keys plan` changes it'));
    const expiresAt = days === undefined ? undefined : later(now(), days * DAY);
    const { text } = await issueKey.execute({ accountId: account.id, name, expiresAt });
    return `${text}\n`;
  };
}

function changePlan(args: string[]): Command {
  const { values } = parse(args, ['email', ...PLAN_OPTIONS], 0);
  const email = addressOf(values);
  const asked = planOf(values);
  if (asked === undefined) throw new UsageError('--plan is required');
  return async ({ changePlan }) => {
    const account = await changePlan.execute({ email, plan: asked });
    return `the account of ${account.email} is on the plan ${describePlan(account.plan)}\n`;
  };
}

function list(args: string[]): Command {
  const { email } = parse(args, ['email'], 0).values;
  return async ({ listKeys }, now) => {
    const keys = await listKeys.execute({ email });
    const rows = keys.map(({ account, key }: AccountKey) => [
      String(key.id),
      account.email,
      describePlan(account.plan),
      `…${key.ending}`,
      stateOf(key, now()),
      new Date(key.createdAt).toISOString(),
      timeOr('never', key.expiresAt),
      timeOr('never', key.lastUsedAt),
      key.name ?? '',
    ]);
    return table([['ID', 'ACCOUNT', 'PLAN', 'KEY', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED', 'NAME'], ...rows]);
  };
}

function revoke(args: string[]): Command {
  const id = keyId(parse(args, [], 1).positionals[0]);
  return async ({ revokeKey }) => {
    const key = await revokeKey.execute({ id });
    return `key ${key.id} (…${key.ending}) is revoked\n`;
  };
}

function rotate(args: string[]): Command {
  const { values, positionals } = parse(args, ['overlap'], 1);
  const id = keyId(positionals[0]);
  const overlap = values['overlap'] === undefined ? undefined : wholeNumber('--overlap', values['overlap']) * HOUR;
  return async ({ rotateKey }) => {
    const { text } = await rotateKey.execute({ id, overlap });
    return `${text}\n`;
  };
}

type Values = Readonly<Record<string, string | undefined>>;

function addressOf({ email }: Values): string {
  if (email === undefined) throw new UsageError('--email is required');
  return asUsage(() => emailAddress(email));
}

function planOf(values: Values): Plan | undefined {
  const limits = {
    ...(values['per-minute'] !== undefined && { perMinute: wholeNumber('--per-minute', values['per-minute']) }),
    ...(values['per-day'] !== undefined && { perDay: wholeNumber('--per-day', values['per-day']) }),
  };
  const name = values['plan'];
  if (name !== undefined) return asUsage(() => plan(name as PlanName, limits));
  if (Object.keys(limits).length > 0) throw new UsageError('--per-minute and --per-day go with --plan enterprise');
  return undefined;
}

function stateOf(key: ApiKey, now: Instant): string {
  const state = keyState(key, now);
  return state === 'active' && key.replacedBy !== undefined ? 'rotated' : state;
}

function timeOr(otherwise: string, time: Instant | undefined): string {
  return time === undefined ? otherwise : new Date(time).toISOString();
}

/** Says besides what is wrong what to do about it. */
function adding(advice: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof DomainError && error.kind === 'invalid') throw new UsageError(`${error.message}; ${advice}`);
    throw error;
  };
}

function parse(args: string[], options: readonly string[], positionals: number) {
  const parsed = asUsage(() =>
    parseArgs({
      args,
      options: Object.fromEntries(options.map((option) => [option, { type: 'string' as const }])),
      allowPositionals: positionals > 0,
    }),
  );
  if (parsed.positionals.length !== positionals)
    throw new UsageError('the ID of one key is required, as `list` shows it');
  return parsed;
}

/** Whatever is wrong with what was typed is a fault of usage. */
function asUsage<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function keyId(text: string | undefined): bigint {
  if (text === undefined || !/^[1-9]\d{0,17}$/.test(text))
    throw new UsageError('ID must be a number, as `list` shows it');
  return BigInt(text);
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new UsageError(`${option} must be a whole number`);
  return Number(text);
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}
