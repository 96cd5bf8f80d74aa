import { DomainError } from '../kernel/errors.js';
import type { AccountId } from './account.js';
import { type ApiKey, keyName } from './api-key.js';
import { type ApiKeyRepository, findTheirs } from './api-key-repository.js';

export interface RenameKeyInput {
  readonly id: bigint;
  /** The account that must own the key. */
  readonly accountId: AccountId;
  /** Undefined: no name. */
  readonly name: string | undefined;
}

export class RenameKey {
  constructor(private readonly keys: ApiKeyRepository) {}

  /** @throws DomainError `invalid_parameter`, or `not_found` if the account has no such key. */
  async execute({ id, accountId, name }: RenameKeyInput): Promise<ApiKey> {
    const valid = keyName(name);
    const key = await findTheirs(this.keys, id, accountId);
    const renamed = key && (await this.keys.rename(key.id, valid));
    if (renamed === undefined) throw new DomainError('not_found', `no API key has the id ${id}`);
    return renamed;
  }
}
