import { type DeliveryId, deliveryIdFrom } from '@adoption-store/domain';
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/** ECB is safe here: each id is a single block, and equal numbers must have equal ids. */
const ALGORITHM = 'aes-256-ecb';
const PREFIX = 'dlv_';

/**
 * The public ids of deliveries: their encrypted numbers. A plain number would show how many deliveries all accounts
 * have.
 */
export class DeliveryIds {
  private readonly key: Buffer;

  constructor(secret: string) {
    this.key = Buffer.from(hkdfSync('sha256', secret, '', 'adoption store deliveries', 32));
  }

  idOf(number: bigint): DeliveryId {
    const block = Buffer.alloc(16);
    block.writeBigInt64BE(number, 8);
    const cipher = createCipheriv(ALGORITHM, this.key, null).setAutoPadding(false);
    return `${PREFIX}${cipher.update(block).toString('hex')}` as DeliveryId;
  }

  /** Undefined if no delivery has that id. */
  numberOf(id: string): bigint | undefined {
    if (deliveryIdFrom(id) === undefined) return undefined;
    const block = Buffer.from(id.slice(PREFIX.length), 'hex');
    const decipher = createDecipheriv(ALGORITHM, this.key, null).setAutoPadding(false);
    const decrypted = decipher.update(block);
    // Half of the block is zero in a real id. In an invented one it isn't.
    return decrypted.readBigInt64BE() === 0n ? decrypted.readBigInt64BE(8) : undefined;
  }
}
