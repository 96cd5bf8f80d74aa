// Accounts and their keys: for the API, the commands of operators and the portal.

import type { Instant } from '../../kernel/clock.js';
import { invalid } from '../../kernel/errors.js';
import { type Page, type PagePlace, readPage } from '../../kernel/page.js';
import { escapeInvisible } from '../../kernel/text.js';
import { type Account, type AccountId, decidePlan, decideScopes, requireProven } from '../account.js';
import { emailAddress, typedAddress } from '../address.js';
import type { AccountKey, ListPart } from './api-key-repository.js';
import {
  type ApiKey,
  type ApiKeyId,
  decideDisabling,
  decideRenaming,
  decideRevocation,
  decideRollback,
  hasEnded,
  KEY_STATES,
  type KeyCommand,
  type KeyDisabling,
  keyName,
  type KeyRenaming,
  type KeyState,
  type OperationUse,
  requireTheirs,
} from './api-key.js';
import type { IssuedKey } from './issue-key.js';
import { describePlan, type Plan, PLANS, samePlan } from '../plan.js';
import type { KeyOptions, KeyPorts } from '../ports.js';
import { scopeList } from '../scope.js';

export { Authenticate } from './authenticate.js';
export { IssueKey } from './issue-key.js';
export * from './rotate-key.js';

export interface OpenAccountInput {
  readonly email: string;
  /** The plan of a new account; the default is free. An existing account must already be on this plan. */
  readonly plan?: Plan | undefined;
  /** Whether the address of an existing account may be unproven. */
  readonly isUnprovenFine?: boolean | undefined;
}

export class OpenAccount {
  constructor(
    private readonly ports: Pick<KeyPorts, 'accounts' | 'clock' | 'domainToAscii'>,
    private readonly options: Pick<KeyOptions, 'provesAddresses'>,
  ) {}

  /**
   * Returns the account of that address, and opens one if there is none.
   *
   * @throws DomainError `invalid_parameter`, also if the account is on another plan; `address_unproven`.
   */
  async execute(input: OpenAccountInput): Promise<Account> {
    const account = (await this.ports.accounts.findByEmail(typedAddress(input.email))) ?? (await this.open(input));
    if (this.options.provesAddresses && input.isUnprovenFine !== true) requireProven(account);
    if (input.plan !== undefined && !samePlan(account.plan, input.plan)) {
      const { email, plan } = account;
      throw invalid('plan', `differs from the plan of the account ${escapeInvisible(email)}: ${describePlan(plan)}`);
    }
    return account;
  }

  private async open({ email, plan = PLANS.free }: OpenAccountInput): Promise<Account> {
    const { accounts, clock, domainToAscii } = this.ports;
    const address = emailAddress(email, domainToAscii);
    return accounts.open({ email: address, plan, scopes: undefined, createdAt: clock.now() });
  }
}

export class GetAccount {
  constructor(private readonly ports: Pick<KeyPorts, 'accounts'>) {}

  /** Undefined if there is no such account, or it is closed. */
  async execute(id: AccountId): Promise<Account | undefined> {
    return this.ports.accounts.findById(id);
  }
}

export class ListAccounts {
  constructor(private readonly ports: Pick<KeyPorts, 'accounts'>) {}

  /** The open accounts, or a part of them, ascending by id. */
  async execute(part?: ListPart<AccountId>): Promise<readonly Account[]> {
    return this.ports.accounts.list(part);
  }
}

export interface ChangePlanInput {
  readonly email: string;
  readonly plan: Plan;
  /** Whether the account's address may be unproven. */
  readonly isUnprovenFine?: boolean | undefined;
}

export class ChangePlan {
  constructor(
    private readonly ports: Pick<KeyPorts, 'accounts'>,
    private readonly options: Pick<KeyOptions, 'provesAddresses'>,
  ) {}

  /**
   * Puts an account on another plan from its next request on. Its used counts stay.
   *
   * @throws DomainError `invalid_parameter`, `not_found` if no account has that address, or `address_unproven`.
   */
  async execute({ email, plan, isUnprovenFine = false }: ChangePlanInput): Promise<Account> {
    const command = {
      email: typedAddress(email),
      plan,
      isUnprovenFine: isUnprovenFine || !this.options.provesAddresses,
    };
    return this.ports.accounts.change(command.email, (account) => decidePlan(account, command));
  }
}

export interface ChangeScopesInput {
  readonly email: string;
  /** Undefined: all scopes. */
  readonly scopes: readonly string[] | undefined;
}

export class ChangeScopes {
  constructor(private readonly ports: Pick<KeyPorts, 'accounts'>) {}

  /**
   * Restricts an account, and so all its keys, to these scopes from its next request on. The keys' own scopes stay.
   *
   * @throws DomainError `invalid_parameter`, or `not_found` if no account has that address.
   */
  async execute({ email, scopes }: ChangeScopesInput): Promise<Account> {
    const command = { email: typedAddress(email), scopes: scopes && scopeList(scopes) };
    return this.ports.accounts.change(command.email, (account) => decideScopes(account, command));
  }
}

export interface ShownKey {
  readonly key: ApiKey;
  /** The end of its ban; undefined if it isn't banned. */
  readonly bannedUntil: Instant | undefined;
  /** The operations that it has called, the latest call first. */
  readonly operations: readonly OperationUse[];
}

/** One of an account's keys, with its ban and the operations that it has called. */
export class ShowKey {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'requests' | 'clock'>) {}

  /** @throws DomainError `not_found` if the account has no such key. */
  async execute({ id, accountId }: KeyCommand & { readonly accountId: AccountId }): Promise<ShownKey> {
    const now = this.ports.clock.now();
    const key = requireTheirs((await this.ports.apiKeys.findById(id as ApiKeyId))?.key, { id, accountId });
    const [called, bans] = await Promise.all([
      this.ports.apiKeys.listOperations([key.id]),
      hasEnded(key, now) ? undefined : this.ports.requests.bansOf([{ accountId, keyId: key.id }], now),
    ]);
    return { key, bannedUntil: bans?.get(key.id), operations: called.get(key.id) ?? [] };
  }
}

/** Keys on one page. All keys that an account may have active or disabled at a time fit on it. */
const KEYS_PAGE = 25;

export interface ShowKeysInput extends PagePlace<bigint> {
  readonly accountId: AccountId;
  /** Only keys in one of these states. Default: all. */
  readonly states?: readonly KeyState[] | undefined;
  /** Only keys whose name contains this text, in capital or small letters. */
  readonly name?: string | undefined;
}

export interface ShownKeys extends Page<ApiKey, ApiKeyId> {
  /** The ends of the bans of the shown keys. */
  readonly bans: ReadonlyMap<ApiKeyId, Instant>;
  /** The operations that the shown keys call; those of a key that has ended are left out. */
  readonly operations: ReadonlyMap<ApiKeyId, readonly OperationUse[]>;
}

/** A page of an account's keys, newest first. */
export class ShowKeys {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'requests' | 'clock'>) {}

  async execute({ accountId, states = KEY_STATES, name, ...place }: ShowKeysInput): Promise<ShownKeys> {
    const at = this.ports.clock.now();
    const page = await readPage<ApiKey, ApiKeyId>(
      { ...(place as PagePlace<ApiKeyId>), limit: KEYS_PAGE },
      ({ id }) => id,
      (part) => this.ports.apiKeys.search({ accountId, states, name, at, ...part }),
    );
    // Of a key that has ended neither a ban nor its operations matter.
    const ids = page.items.filter((key) => !hasEnded(key, at)).map(({ id }) => id);
    const [bans, operations] = await Promise.all([
      this.ports.requests.bansOf(
        ids.map((keyId) => ({ accountId, keyId })),
        at,
      ),
      this.ports.apiKeys.listOperations(ids),
    ]);
    return { ...page, bans, operations };
  }
}

export interface ListKeysInput extends ListPart<ApiKeyId> {
  readonly email?: string | undefined;
  readonly accountId?: AccountId | undefined;
}

export class ListKeys {
  constructor(private readonly ports: Pick<KeyPorts, 'accounts' | 'apiKeys'>) {}

  /**
   * All keys, or those of one account (by id or address), or a part of them, ascending by id. Empty if there is no such
   * account.
   *
   * @throws DomainError `invalid_parameter`
   */
  async execute(input: ListKeysInput = {}): Promise<readonly AccountKey[]> {
    if (input.email === undefined) return this.ports.apiKeys.list(input.accountId, input);
    const account = await this.ports.accounts.findByEmail(typedAddress(input.email));
    return account === undefined ? [] : this.ports.apiKeys.list(account.id, input);
  }
}

/** The operations that keys call, the latest call first. */
export class ListOperations {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'clock'>) {}

  /** By key. A key that has called none is left out, and so is one that has ended. */
  async execute(keys: readonly ApiKey[]): Promise<ReadonlyMap<ApiKeyId, readonly OperationUse[]>> {
    const now = this.ports.clock.now();
    return this.ports.apiKeys.listOperations(keys.filter((key) => !hasEnded(key, now)).map(({ id }) => id));
  }
}

export class RenameKey {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys'>) {}

  /** @throws SignedOut; DomainError `invalid_parameter`, or `not_found` if the account has no such key. */
  async execute(input: KeyRenaming): Promise<ApiKey> {
    const command = { ...input, name: keyName(input.name) };
    return this.ports.apiKeys.change(command.id as ApiKeyId, (state) => decideRenaming(state, command));
  }
}

/** Disables a key, or enables it again. */
export class DisableKey {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'clock'>) {}

  /** @throws SignedOut; DomainError `not_found` if there is no such key, or it has ended. */
  async execute(command: KeyDisabling): Promise<ApiKey> {
    const now = this.ports.clock.now();
    return this.ports.apiKeys.change(command.id as ApiKeyId, (state) => decideDisabling(state, command, now));
  }
}

export class RevokeKey {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'clock'>) {}

  /** @throws SignedOut; DomainError `not_found` */
  async execute(command: KeyCommand): Promise<ApiKey> {
    const now = this.ports.clock.now();
    return this.ports.apiKeys.change(command.id as ApiKeyId, (state) => decideRevocation(state, command, now));
  }
}

export class RollBackKey {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'clock'>) {}

  /** Revokes a key whose text could not be shown to anybody. The key that it replaced continues as before. */
  async execute({ key }: Pick<IssuedKey, 'key'>): Promise<void> {
    const now = this.ports.clock.now();
    await this.ports.apiKeys.rollBack(key.id, (state) => decideRollback(state, key, now));
  }
}
