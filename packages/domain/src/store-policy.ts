import type { KeyOptions } from './accounts/keys/ports.js';
import type { CategoryPolicy } from './categories/category.js';
import type { LimitOptions } from './limits/ports.js';
import type { BanPolicy } from './limits/quota.js';
import type { MessageOptions } from './messages/ports.js';
import type { OrderOptions } from './orders/ports.js';

/** What must be the same in every app of a store. Nothing has a default here: the settings do. */
export interface StorePolicy extends KeyOptions, LimitOptions, MessageOptions, OrderOptions {
  readonly categories: CategoryPolicy;
  readonly bans: BanPolicy;
}

export type AdapterPolicy = Pick<StorePolicy, 'categories' | 'bans'>;
