import { hash, randomBytes } from 'node:crypto';
import type { Cryptography } from '@adoption-store/domain';

export const nodeCryptography: Cryptography = {
  randomBytes: (length) => randomBytes(length),
  sha256: (text) => hash('sha256', text),
};
