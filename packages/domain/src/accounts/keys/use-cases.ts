// Keys, for the API, the commands of operators and the portal.

import type { Instant } from '../../kernel/clock.js';
import { type ListPart, type Page, type PagePosition, readPage } from '../../kernel/page.js';
import type { AccountId } from '../account.js';
import { typedAddress } from '../address.js';
import type { AccountKey } from './api-key-repository.js';
import {
  type ApiKey,
  type ApiKeyId,
  decideRenaming,
  decideRevocation,
  decideRollback,
  decideKeySwitch,
  hasEnded,
  KEY_STATES,
  type KeyCommand,
  keyName,
  type KeyRenaming,
  type KeyState,
  type KeySwitch,
  type OperationUse,
  requireTheirs,
} from './api-key.js';
import type { IssuedKey } from './issue-key.js';
import type { KeyPorts } from './ports.js';

export { Authenticate } from './authenticate.js';
export { DEFAULT_OVERLAP, IssueKey, RotateKey, type RotateKeyInput } from './issue-key.js';

export interface ShownKey {
  readonly key: ApiKey;
  /** The end of its ban; undefined if it isn't banned. */
  readonly bannedUntil: Instant | undefined;
  /** The operations that it has called, the latest call first. */
  readonly operations: readonly OperationUse[];
}

/** One of an account's keys, with its ban and the operations that it has called. */
export class GetKey {
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

export interface ListKeysInput extends PagePosition<bigint> {
  readonly accountId: AccountId;
  /** Only keys in one of these states. Default: all. */
  readonly states?: readonly KeyState[] | undefined;
  /** Only keys whose name contains this text, in capital or small letters. */
  readonly name?: string | undefined;
}

export interface ShownKeys extends Page<ApiKey, ApiKeyId> {
  readonly bans: ReadonlyMap<ApiKeyId, Instant>;
  /** The operations that the shown keys call; those of a key that has ended are left out. */
  readonly operations: ReadonlyMap<ApiKeyId, readonly OperationUse[]>;
}

/** A page of an account's keys, newest first. */
export class ListKeys {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'requests' | 'clock'>) {}

  async execute({ accountId, states = KEY_STATES, name, ...position }: ListKeysInput): Promise<ShownKeys> {
    const at = this.ports.clock.now();
    const page = await readPage<ApiKey, ApiKeyId>(
      { ...(position as PagePosition<ApiKeyId>), limit: KEYS_PAGE },
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

export interface ListAllKeysInput extends ListPart<ApiKeyId> {
  readonly email?: string | undefined;
  readonly accountId?: AccountId | undefined;
}

export class ListAllKeys {
  constructor(private readonly ports: Pick<KeyPorts, 'accounts' | 'apiKeys'>) {}

  /**
   * All keys, or those of one account (by id or address), or a part of them, ascending by id. Empty without such an
   * account.
   *
   * @throws DomainError `invalid_parameter`
   */
  async execute(input: ListAllKeysInput = {}): Promise<readonly AccountKey[]> {
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
export class SwitchKey {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'clock'>) {}

  /** @throws SignedOut; DomainError `not_found` if there is no such key, or it has ended. */
  async execute(command: KeySwitch): Promise<ApiKey> {
    const now = this.ports.clock.now();
    return this.ports.apiKeys.change(command.id as ApiKeyId, (state) => decideKeySwitch(state, command, now));
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
