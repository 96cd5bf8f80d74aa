import { type Instant, type SecretRotation, stillSigning, type WebhookSecrets } from '@adoption-store/domain';
import type { Encrypted, SecretCipher } from './secret-cipher.js';
import type { StoredPastSecret, WebhookRow } from './webhook.schema.js';

export type SecretRow = Pick<WebhookRow, 'id' | 'secret' | 'pastSecrets'>;

/** Undefined if the current secret was encrypted with a key that this process doesn't have. */
export function secretsFrom(row: SecretRow, cipher: SecretCipher): WebhookSecrets | undefined {
  const current = cipher.decrypt(row.secret, row.id);
  if (current === undefined) return undefined;
  const past = row.pastSecrets.flatMap((each) => {
    const secret = cipher.decrypt(each.secret, row.id);
    return secret === undefined ? [] : [{ secret, until: each.until }];
  });
  return { current, past };
}

/**
 * The columns after a rotation. The old secret is moved without decrypting it, so the key that encrypted it isn't
 * needed.
 */
export function rotated(row: WebhookRow, { webhook, secret, until }: SecretRotation, cipher: SecretCipher) {
  const replaced = { secret: row.secret, key: row.secretKey, until };
  const past = [replaced, ...stillSigning(row.pastSecrets, webhook.updatedAt)];
  return columns(cipher.encrypt(secret, row.id), past);
}

/** The columns, encrypted with the first key of the cipher. Undefined if the current secret can't be decrypted. */
export function reencrypted(row: WebhookRow, now: Instant, cipher: SecretCipher) {
  const current = cipher.renew(row.secret, row.id);
  if (current === undefined) return undefined;
  const past = stillSigning(row.pastSecrets, now).map((each) => {
    const renewed = cipher.renew(each.secret, row.id) ?? each;
    return { secret: renewed.secret, key: renewed.key, until: each.until };
  });
  return columns(current, past);
}

/** Whether the row has these columns already. */
export function isStored(row: WebhookRow, { secret, secretKey, pastSecrets }: ReturnType<typeof columns>): boolean {
  if (row.secret !== secret || row.secretKey !== secretKey) return false;
  if (row.pastSecrets.length !== pastSecrets.length) return false;
  return pastSecrets.every((each, index) => {
    const stored = row.pastSecrets[index];
    return stored?.secret === each.secret && stored.key === each.key;
  });
}

function columns({ secret, key }: Encrypted, pastSecrets: readonly StoredPastSecret[]) {
  return { secret, secretKey: key, pastSecrets };
}
