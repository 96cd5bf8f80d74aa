import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts what is stored, with a key that isn't stored beside it. */
export class SecretCipher {
  private readonly keys: readonly Buffer[];

  /** @param secrets the first one encrypts, all decrypt. */
  constructor(secrets: readonly string[]) {
    this.keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'adoption store webhooks', 32)));
  }

  /** @param owner must be given again to decrypt, so that a text is of no use in another row. */
  encrypt(text: string, owner: string): string {
    const [key] = this.keys;
    if (key === undefined) throw new Error('no secret encrypts');
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(owner));
    const encrypted = [cipher.update(text, 'utf8'), cipher.final()];
    return Buffer.concat([iv, cipher.getAuthTag(), ...encrypted]).toString('base64url');
  }

  /** Undefined if none of the secrets has encrypted it. */
  decrypt(encrypted: string, owner: string): string | undefined {
    const bytes = Buffer.from(encrypted, 'base64url');
    const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
    for (const key of this.keys) {
      const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(owner)).setAuthTag(tag);
      try {
        return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        // Another key's.
      }
    }
    return undefined;
  }
}
