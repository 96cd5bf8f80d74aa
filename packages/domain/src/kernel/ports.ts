import type { Clock } from './clock.js';
import type { Cryptography } from './cryptography.js';
import type { DomainToAscii } from './domain-names.js';

/** The ports that use cases of every context may need. */
export interface SystemPorts {
  readonly clock: Clock;
  readonly cryptography: Cryptography;
  readonly domainToAscii: DomainToAscii;
}
