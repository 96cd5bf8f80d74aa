import { hash, randomBytes } from 'node:crypto';
import type { Clock, Cryptography, Instant } from '@adoption-store/domain';

export const systemClock: Clock = { now: () => Date.now() as Instant };

export const nodeCryptography: Cryptography = {
  randomBytes: (length) => randomBytes(length),
  sha256: (text) => hash('sha256', text),
};
