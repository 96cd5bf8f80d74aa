import type { AccountRepository } from './accounts/account-repository.js';
import type { KeyEnvironment } from './accounts/api-key.js';
import type { ApiKeyRepository } from './accounts/api-key-repository.js';
import { Authenticate } from './accounts/authenticate.js';
import { ChangePlan } from './accounts/change-plan.js';
import { IssueKey } from './accounts/issue-key.js';
import { ListKeys } from './accounts/list-keys.js';
import { OpenAccount } from './accounts/open-account.js';
import { RevokeKey } from './accounts/revoke-key.js';
import { RotateKey } from './accounts/rotate-key.js';
import { AddAnimal } from './animals/add-animal.js';
import type { AnimalRepository } from './animals/animal-repository.js';
import { GetAnimal } from './animals/get-animal.js';
import { ListAnimals } from './animals/list-animals.js';
import type { Clock } from './kernel/clock.js';
import type { Cryptography } from './kernel/cryptography.js';
import { DEFAULT_ADDRESS_LIMIT, MeterRequest } from './quotas/meter-request.js';
import type { RequestCounter } from './quotas/request-counter.js';

/** What the domain needs of the world. */
export interface Ports {
  readonly animals: AnimalRepository;
  readonly accounts: AccountRepository;
  readonly apiKeys: ApiKeyRepository;
  readonly requests: RequestCounter;
  readonly clock: Clock;
  readonly cryptography: Cryptography;
}

export interface ApplicationOptions {
  /** Which keys this deployment issues and takes; `live` unless given. */
  readonly keyEnvironment?: KeyEnvironment;
  /** Requests a minute that an address may send without a valid key; 60 unless given. */
  readonly addressLimit?: number;
}

export type Application = ReturnType<typeof createApplication>;

/** Everything the service can do. */
export function createApplication(ports: Ports, options: ApplicationOptions = {}) {
  const { keyEnvironment = 'live', addressLimit = DEFAULT_ADDRESS_LIMIT } = options;
  const { animals, accounts, apiKeys, requests, clock, cryptography } = ports;
  return {
    addAnimal: new AddAnimal(animals),
    getAnimal: new GetAnimal(animals),
    listAnimals: new ListAnimals(animals),

    openAccount: new OpenAccount(accounts, clock),
    changePlan: new ChangePlan(accounts),
    issueKey: new IssueKey(apiKeys, cryptography, clock, keyEnvironment),
    rotateKey: new RotateKey(apiKeys, cryptography, clock, keyEnvironment),
    revokeKey: new RevokeKey(apiKeys, clock),
    listKeys: new ListKeys(accounts, apiKeys),
    authenticate: new Authenticate(apiKeys, cryptography, clock, keyEnvironment),

    meterRequest: new MeterRequest(requests, clock, addressLimit),
  };
}
