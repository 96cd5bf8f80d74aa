import {
  type AccountKey,
  type ApiKey,
  type ApiKeyId,
  DAY,
  DEFAULT_OVERLAP,
  describePlan,
  describeScopes,
  DomainError,
  escapeInvisible,
  HOUR,
  type Instant,
  isoTime,
  type JsonFields,
  keyName,
  keyState,
  later,
  MOST_OVERLAP,
  PLAN_NAMES,
  type ListOperations,
  SCOPES,
} from '@adoption-store/domain';
import { deprecatedUses, RECENT_USE } from '@adoption-store/web';
import {
  addressOf,
  asUsage,
  type Command,
  idOf,
  numberIn,
  parse,
  parseList,
  planOf,
  type Program,
  scopesOf,
  type Surroundings,
  UsageError,
} from '../command-line.js';
import { accountJson, inParts, listing, timeOr } from '../output.js';

const KEY_COLUMNS = ['ID', 'ACCOUNT', 'PLAN', 'KEY', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED', 'SCOPES', 'NAME'];
const LONGEST_LIFE = 3_650; // days
const LONGEST_OVERLAP = MOST_OVERLAP / HOUR;
const USAGE = `Usage:
  npm run -s keys -- create --email ADDRESS [--plan ${PLAN_NAMES.join('|')}]
                            [--per-minute N --per-day N] [--name TEXT]
                            [--scopes all|SCOPE,SCOPE…] [--expires-in DAYS]
                            [--unproven]
      prints a new API key, alone, on standard output; it is never shown again,
      and revoked where it could not be shown at all.
      An account is opened for the address if there is none, on the plan free
      unless another is given; enterprise takes --per-minute and --per-day.
      The key has those of its scopes that its account has, too; without
      --scopes all of them. The scopes are ${SCOPES.slice(0, 3).join(', ')},
      ${SCOPES.slice(3, 7).join(', ')},
      ${SCOPES.slice(7, -1).join(', ')} and ${SCOPES.slice(-1).join('')}.
      The key works for 1 to ${LONGEST_LIFE} days, without --expires-in for ever.
      Where there is SMTP, --unproven has to be given for an account whose
      holder has not proven the address.
  npm run -s keys -- list [--email ADDRESS] [--deprecated] [--json]
      shows each key as active, rotated (it works until it expires, beside its
      replacement), disabled, expired or revoked; with --deprecated only those
      that have called a deprecated operation in the last ${RECENT_USE / DAY} days, and when;
      with --json an object a line.
  npm run -s keys -- disable ID
  npm run -s keys -- enable ID
      a disabled key is refused until it is enabled again.
  npm run -s keys -- revoke ID
  npm run -s keys -- rotate ID [--overlap HOURS]
      prints a new key in place of the old one, with its name, scopes and expiry;
      the old one goes on for ${DEFAULT_OVERLAP / HOUR} hours unless another overlap is given.
`;

export const keyCommands: Program = {
  commands: {
    create,
    list,
    disable: (args) => disabling(args, true),
    enable: (args) => disabling(args, false),
    revoke,
    rotate,
  },
  usage: USAGE,
};

function create(args: string[]): Command {
  const options = ['email', 'plan', 'per-minute', 'per-day', 'name', 'scopes', 'expires-in'];
  const { values, isOn } = parse(args, options, [], ['unproven']);
  // Checked first, so that an invalid name leaves no new account without a key.
  const name = asUsage(() => keyName(values['name']));
  const scopes = scopesOf(values['scopes'] ?? 'all');
  const email = addressOf(values['email']);
  const wantedPlan = values['plan'] === undefined ? undefined : planOf(values['plan'], values);
  if (wantedPlan === undefined && (values['per-minute'] ?? values['per-day']) !== undefined)
    throw new UsageError('--per-minute and --per-day go with --plan enterprise');
  const days = numberIn(values, 'expires-in');
  if (days !== undefined && (days < 1 || days > LONGEST_LIFE))
    throw new UsageError(`--expires-in must be 1 to ${LONGEST_LIFE} days`);
  return async ({ openAccount, issueKey }, { now }) => {
    const account = await openAccount
      .execute({ email, plan: wantedPlan, isUnprovenFine: isOn('unproven') })
      .catch((error: unknown) => {
        // The plan itself was checked above, so the account is on another one.
        if (!(error instanceof DomainError) || error.field !== 'plan') throw error;
        throw new UsageError(`${error.message}; \`accounts plan\` can change it`);
      });
    const expiresAt = days === undefined ? undefined : later(now(), days * DAY);
    return issueKey.execute({ accountId: account.id, name, scopes, expiresAt });
  };
}

function list(args: string[]): Command {
  const { values, isOn, isJson } = parseList(args, ['email'], ['deprecated']);
  return async ({ listAllKeys, listOperations }, surroundings) => {
    const keys = inParts<AccountKey, ApiKeyId>(
      (part) => listAllKeys.execute({ email: values['email'], ...part }),
      ({ key }) => key.id,
    );
    if (!isOn('deprecated'))
      return listing(isJson, keys, {
        heads: KEY_COLUMNS,
        rowOf: (each) => rowOf(each, surroundings),
        jsonOf: (each) => jsonOf(each, surroundings),
      });
    return listing(isJson, usesOf(keys, listOperations, surroundings), {
      heads: KEY_COLUMNS.toSpliced(-1, 0, 'DEPRECATED'),
      rowOf: ({ operation, lastUsedAt, ...each }) =>
        rowOf(each, surroundings, `${operation} at ${isoTime(lastUsedAt)}`),
      jsonOf: ({ operation, lastUsedAt, ...each }) => {
        const deprecated = { operation, lastUsedAt: isoTime(lastUsedAt) };
        return { ...jsonOf(each, surroundings), deprecated };
      },
    });
  };
}

interface DeprecatedUse extends AccountKey {
  readonly operation: string;
  readonly lastUsedAt: Instant;
}

/** Each deprecated operation that a key uses, with its last use. */
async function* usesOf(
  parts: AsyncIterable<readonly AccountKey[]>,
  listOperations: ListOperations,
  { now }: Surroundings,
): AsyncGenerator<readonly DeprecatedUse[]> {
  for await (const keys of parts) {
    const operations = await listOperations.execute(keys.map(({ key }) => key));
    yield keys.flatMap((each) => {
      const uses = deprecatedUses(operations.get(each.key.id) ?? [], now());
      return uses.map(({ deprecation: { operation }, lastUsedAt }) => ({ ...each, operation, lastUsedAt }));
    });
  }
}

/** The name is last, because it may contain spaces. */
function rowOf(
  { account, key }: AccountKey,
  { now, nameOf }: Surroundings,
  ...more: readonly string[]
): readonly string[] {
  return [
    String(key.id),
    nameOf(account),
    describePlan(account.plan),
    `…${key.ending}`,
    stateOf(key, now()),
    isoTime(key.createdAt),
    timeOr('never', key.expiresAt),
    timeOr('never', key.lastUsedAt),
    describeScopes(key.scopes),
    ...more,
    escapeInvisible(key.name ?? ''),
  ];
}

function jsonOf({ account, key }: AccountKey, { now }: Surroundings): JsonFields {
  return {
    id: key.id,
    name: key.name,
    ending: key.ending,
    state: stateOf(key, now()),
    scopes: key.scopes,
    createdAt: isoTime(key.createdAt),
    expiresAt: key.expiresAt === undefined ? undefined : isoTime(key.expiresAt),
    lastUsedAt: key.lastUsedAt === undefined ? undefined : isoTime(key.lastUsedAt),
    account: accountJson(account),
  };
}

function disabling(args: string[], isDisabled: boolean): Command {
  const id = idOf(parse(args, [], ['the ID of one key']).positionals[0]);
  return async ({ switchKey }) => {
    const key = await switchKey.execute({ id, isDisabled });
    return `key ${key.id} (…${key.ending}) is ${isDisabled ? 'disabled' : 'enabled'}\n`;
  };
}

function revoke(args: string[]): Command {
  const id = idOf(parse(args, [], ['the ID of one key']).positionals[0]);
  return async ({ revokeKey }) => {
    const key = await revokeKey.execute({ id });
    return `key ${key.id} (…${key.ending}) is revoked\n`;
  };
}

function rotate(args: string[]): Command {
  const { values, positionals } = parse(args, ['overlap'], ['the ID of one key']);
  const id = idOf(positionals[0]);
  const hours = numberIn(values, 'overlap');
  if (hours !== undefined && hours > LONGEST_OVERLAP)
    throw new UsageError(`--overlap must be 0 to ${LONGEST_OVERLAP} hours`);
  return async ({ rotateKey }) => rotateKey.execute({ id, overlap: hours && hours * HOUR });
}

function stateOf(key: ApiKey, now: Instant): string {
  const state = keyState(key, now);
  return state === 'active' && key.replacedBy !== undefined ? 'rotated' : state;
}
