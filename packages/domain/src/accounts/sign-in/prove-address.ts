import type { Account } from '../account.js';
import { decideProof } from './credentials.js';
import type { HolderPorts } from '../ports.js';

export class ProveAddress {
  constructor(private readonly ports: Pick<HolderPorts, 'credentials' | 'cryptography' | 'clock'>) {}

  /** Proves the address of the token's account. Undefined if the token is unknown, used or expired. */
  async execute({ token }: { readonly token: string }): Promise<Account | undefined> {
    const now = this.ports.clock.now();
    return this.ports.credentials.follow('proof', this.ports.cryptography.sha256(token), (link) =>
      decideProof(link, now),
    );
  }
}
