import { DomainError, errorCodes, invalid, ours, ourText } from '../kernel/errors.js';

export const scopeErrors = errorCodes({
  insufficient_scope: 'forbidden',
});

/** The permissions of a key, in the order in which lists are kept and shown. */
export const SCOPES = [
  'pets:read',
  'pets:write',
  'pets:manage',
  'orders:read',
  'orders:write',
  'messages:read',
  'messages:write',
  'events:read',
  'webhooks:write',
] as const;
export type Scope = (typeof SCOPES)[number];

/** The texts for people who choose scopes. */
export const SCOPE_MEANINGS: Readonly<Record<Scope, string>> = {
  'pets:read': 'Read animals and categories',
  'pets:write': 'Add animals',
  'pets:manage': 'Change and withdraw animals, change categories, and complete orders (with orders:write)',
  'orders:read': 'Read the orders of the account',
  'orders:write': 'Place and cancel orders',
  'messages:read': 'Read the messages of the account',
  'messages:write': 'Send messages to the store',
  'events:read': 'Read what has happened in the store',
  'webhooks:write': 'Manage the webhooks of the account',
};

/** The scopes that a key or an account may use. Undefined: all, also those that are added later. */
export type Scopes = readonly Scope[] | undefined;

interface Holder {
  readonly scopes: Scopes;
}

/** A request's scopes are needed by its key and by the key's account. A person who is signed in has no key. */
export interface ScopeHolders {
  readonly account: Holder;
  readonly key?: Holder | undefined;
}

/** The key, or its account, lacks these scopes. */
export class InsufficientScope extends DomainError {
  constructor(
    readonly holder: 'account' | 'API key',
    readonly scopes: readonly Scope[],
  ) {
    super(
      scopeErrors.insufficient_scope,
      ourText(`the ${holder} lacks the scope${scopes.length === 1 ? '' : 's'} ${scopes.join(' and ')}`),
    );
  }
}

/** Whether both have each of the scopes. A key can do no more than its account. */
export function hasScopes({ account, key }: ScopeHolders, scopes: readonly Scope[]): boolean {
  return scopes.every((scope) => includesScope(account, scope) && (key === undefined || includesScope(key, scope)));
}

/** The scopes that both have. Undefined: all. */
export function sharedScopes(holders: ScopeHolders): Scopes {
  if (holders.account.scopes === undefined && holders.key?.scopes === undefined) return undefined;
  return SCOPES.filter((scope) => hasScopes(holders, [scope]));
}

/** @throws InsufficientScope that names what the account lacks, or else what the key lacks. */
export function requireScopes(holders: ScopeHolders, scopes: readonly Scope[]): void {
  if (hasScopes(holders, scopes)) return;
  const { account, key = account } = holders;
  const lacking = (holder: Holder) => scopes.filter((scope) => !includesScope(holder, scope));
  const ofAccount = lacking(account);
  if (ofAccount.length > 0) throw new InsufficientScope('account', ofAccount);
  throw new InsufficientScope('API key', lacking(key));
}

/** The scopes of these names, in the order of `SCOPES`. @throws DomainError `invalid_parameter` */
export function scopeList(names: readonly string[]): readonly Scope[] {
  const list = SCOPES.filter((scope) => names.includes(scope));
  if (list.length === 0 || list.length !== names.length)
    throw invalid('scopes', ours`must be some of ${ourText(SCOPES.join(', '))}, each at most once`);
  return list;
}

/** `all`, or the names separated by commas. @throws DomainError `invalid_parameter` */
export function readScopes(text: string): Scopes {
  return text === ALL ? undefined : scopeList(text.split(','));
}

/** The text that `readScopes` reads. */
export function describeScopes(scopes: Scopes): string {
  return scopes?.join(',') ?? ALL;
}

const ALL = 'all';

function includesScope({ scopes }: Holder, scope: Scope): boolean {
  return scopes?.includes(scope) ?? true;
}
