import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

interface Key {
  /** A short hash of the key. It is stored beside what the key has encrypted; the key itself never is. */
  readonly name: string;
  readonly bytes: Buffer;
}

export interface Encrypted {
  readonly secret: string;
  /** The name of the key. */
  readonly key: string;
}

/** Encrypts secrets for the database. */
export class SecretCipher {
  private readonly keys: readonly Key[];

  /** @param secrets the first one encrypts, all decrypt. */
  constructor(secrets: readonly string[]) {
    this.keys = secrets.map((secret) => {
      const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'adoption store webhooks', 32));
      return { name: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes };
    });
  }

  /** The names of the keys, the first one first. */
  get names(): readonly string[] {
    return this.keys.map(({ name }) => name);
  }

  /**
   * @param owner the id of the row. Decrypting needs the same one, so an encrypted text copied to another row is
   * useless.
   */
  encrypt(text: string, owner: string): Encrypted {
    const [key] = this.keys;
    if (key === undefined) throw new Error('no secret encrypts');
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key.bytes, iv).setAAD(Buffer.from(owner));
    const encrypted = [cipher.update(text, 'utf8'), cipher.final()];
    return { secret: Buffer.concat([iv, cipher.getAuthTag(), ...encrypted]).toString('base64url'), key: key.name };
  }

  /** Undefined if none of the secrets has encrypted it. */
  decrypt(encrypted: string, owner: string): string | undefined {
    return this.open(encrypted, owner)?.text;
  }

  /** The same text, encrypted with the first key. Undefined if none of the secrets has encrypted it. */
  renew(encrypted: string, owner: string): Encrypted | undefined {
    const opened = this.open(encrypted, owner);
    if (opened === undefined) return undefined;
    const { key, text } = opened;
    return key === this.keys[0] ? { secret: encrypted, key: key.name } : this.encrypt(text, owner);
  }

  private open(encrypted: string, owner: string): { readonly text: string; readonly key: Key } | undefined {
    const bytes = Buffer.from(encrypted, 'base64url');
    const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
    for (const key of this.keys) {
      try {
        const decipher = createDecipheriv(ALGORITHM, key.bytes, iv, { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(owner)).setAuthTag(tag);
        const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
        return { text, key };
      } catch {
        // Encrypted with another key, or not an encrypted text.
      }
    }
    return undefined;
  }
}
