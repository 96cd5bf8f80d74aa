import { DomainError } from '../../kernel/errors.js';
import { invalidKey, keyErrors, type KeyRequester, requireUsable } from './api-key.js';
import type { AccountKey } from './api-key-repository.js';
import { environmentOf } from './api-key-text.js';
import type { Plan } from '../plan.js';
import type { KeyOptions, KeyPorts } from './ports.js';

/** The account and the key of an authenticated request. */
export interface Caller extends AccountKey, KeyRequester {
  readonly plan: Plan;
}

/** Finds the caller of a key's text. */
export class Authenticate {
  constructor(
    private readonly ports: Pick<KeyPorts, 'apiKeys' | 'cryptography' | 'clock'>,
    private readonly options: Pick<KeyOptions, 'keyEnvironment'>,
  ) {}

  /**
   * Returns the caller without a promise if the key is cached. A promise for each request would double the cost.
   *
   * @throws DomainError `invalid_api_key`, which doesn't say what is wrong with the text; UnusableKey. Also as a
   * rejection.
   */
  execute(text: string): Caller | Promise<Caller> {
    const environment = environmentOf(text);
    const { keyEnvironment } = this.options;
    if (environment !== undefined && environment !== keyEnvironment) {
      throw new DomainError(
        keyErrors.invalid_api_key,
        `the API key is for the ${environment} environment, this is ${keyEnvironment}`,
      );
    }
    const found = environment && this.ports.apiKeys.findByHash(this.ports.cryptography.sha256(text));
    return found instanceof Promise ? found.then((later) => this.callerOf(later)) : this.callerOf(found);
  }

  private callerOf(found: AccountKey | undefined): Caller {
    if (!found) throw invalidKey();
    requireUsable(found.key, this.ports.clock.now());
    const { account, key } = found;
    return { account, key, accountId: account.id, keyId: key.id, plan: account.plan };
  }
}
