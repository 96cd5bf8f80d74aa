import type { AccountId } from '../accounts/account.js';
import type { ShownRefusal } from './request-records.js';
import type { LimitPorts } from './ports.js';

/** The form of a request's id. */
const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

export interface ShowRefusalsInput {
  readonly accountId: AccountId;
  /** Only the request with exactly this id. */
  readonly requestId?: string | undefined;
}

/** The account's last refused requests, the latest first. */
export class ShowRefusals {
  constructor(private readonly ports: Pick<LimitPorts, 'requestRecords'>) {}

  async execute({ accountId, requestId }: ShowRefusalsInput): Promise<readonly ShownRefusal[]> {
    if (requestId !== undefined && !REQUEST_ID.test(requestId)) return [];
    return this.ports.requestRecords.listRefusals(accountId, requestId);
  }
}
