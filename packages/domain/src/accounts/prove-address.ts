import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import type { Account } from './account.js';
import type { CredentialRepository } from './credential-repository.js';
import { decideProof } from './credentials.js';

export class ProveAddress {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
  ) {}

  /** Proves the address of the token's account. Undefined if the token is unknown, used or expired. */
  async execute({ token }: { readonly token: string }): Promise<Account | undefined> {
    const now = this.clock.now();
    return this.credentials.follow('proof', this.cryptography.sha256(token), (link) => decideProof(link, now));
  }
}
