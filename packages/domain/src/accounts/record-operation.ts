import { type Clock, MINUTE, startOf } from '../kernel/clock.js';
import type { KeyRequester } from '../quotas/request-counter.js';
import type { ApiKeyRepository } from './api-key-repository.js';

/** Records which operation a key calls, so that its people can see what uses it. */
export class RecordOperation {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** @param operation the method and the route, such as `GET /v1/pets/{petId}`. It returns at once and never fails. */
  execute({ keyId }: Pick<KeyRequester, 'keyId'>, operation: string): void {
    this.keys.recordOperation(keyId, operation, startOf(MINUTE, this.clock.now()));
  }
}
