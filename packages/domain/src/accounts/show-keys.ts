import type { Instant } from '../kernel/clock.js';
import { type Page, type PagePlace, readPage } from '../kernel/page.js';
import type { AccountId } from './account.js';
import { type ApiKey, type ApiKeyId, hasEnded, KEY_STATES, type KeyState, type OperationUse } from './api-key.js';
import type { KeyPorts } from './ports.js';

/** Keys on one page: all that are active or disabled fit on one. */
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
    // A key that has ended is refused anyway, and calls nothing.
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
