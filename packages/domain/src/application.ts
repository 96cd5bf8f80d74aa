import type { HolderOptions, KeyOptions } from './accounts/ports.js';
import * as holderUseCases from './accounts/holder-use-cases.js';
import * as keyUseCases from './accounts/key-use-cases.js';
import * as animalUseCases from './animals/use-cases.js';
import * as categoryUseCases from './categories/use-cases.js';
import { DEFAULT_DELIVERY_POLICY, type DeliveryPolicy } from './deliveries/deliver-batch.js';
import * as eventUseCases from './events/use-cases.js';
import * as idempotencyUseCases from './idempotency/use-cases.js';
import { DEFAULT_ADDRESS_LIMIT } from './limits/meter-request.js';
import type { LimitOptions } from './limits/ports.js';
import * as limitUseCases from './limits/use-cases.js';
import * as messageUseCases from './messages/use-cases.js';
import { DEFAULT_ORDER_LIMIT, DEFAULT_ORDER_TTL } from './orders/order.js';
import type { OrderOptions } from './orders/ports.js';
import * as orderUseCases from './orders/use-cases.js';
import type { Ports } from './ports.js';
import {
  DEFAULT_EVENT_RETENTION,
  DEFAULT_MESSAGE_RETENTION,
  PurgeExpired,
  type PurgeOptions,
} from './purge-expired.js';
import * as sessionUseCases from './sessions/use-cases.js';
import type { WebhookOptions } from './webhooks/ports.js';
import * as webhookUseCases from './webhooks/use-cases.js';

export type { Ports };

export interface ApplicationOptions extends Partial<
  KeyOptions & HolderOptions & OrderOptions & LimitOptions & PurgeOptions & WebhookOptions
> {
  readonly delivery?: Partial<DeliveryPolicy>;
}

/** The classes of the use cases of every context. */
const useCases = {
  ...animalUseCases,
  ...categoryUseCases,
  ...orderUseCases,
  ...messageUseCases,
  ...eventUseCases,
  ...keyUseCases,
  ...holderUseCases,
  ...sessionUseCases,
  ...limitUseCases,
  ...idempotencyUseCases,
  ...webhookUseCases,
  PurgeExpired,
};
type UseCases = typeof useCases;
const useCaseEntries = Object.entries(useCases).map(
  ([name, UseCase]) => [(name.charAt(0).toLowerCase() + name.slice(1)) as UseCaseName, UseCase] as const,
);

/** Each use case by the name of its class, which begins in lower case here: `addAnimal` is an `AddAnimal`. */
type ByName = { readonly [Each in keyof UseCases as Uncapitalize<Each>]: InstanceType<UseCases[Each]> };

export type UseCaseName = keyof ByName;

/** What the service can do: everything, or the use cases of these names. */
export type Application<Name extends UseCaseName = UseCaseName> = Pick<ByName, Name>;

/** The names of those classes that are use cases. */
export function useCasesAmong(classes: readonly unknown[]): readonly UseCaseName[] {
  return useCaseEntries.flatMap(([name, UseCase]) => (classes.includes(UseCase) ? [name] : []));
}

/** @param names the use cases that the caller serves. The others aren't constructed. Default: all. */
export function createApplication<Name extends UseCaseName = UseCaseName>(
  ports: Ports,
  options: ApplicationOptions = {},
  names?: readonly Name[],
): Application<Name> {
  const all = {
    keyEnvironment: 'live',
    provesAddresses: options.accountMailPages !== undefined,
    accountMailPages: undefined,
    signupScopes: undefined,
    orderTtl: DEFAULT_ORDER_TTL,
    orderLimit: DEFAULT_ORDER_LIMIT,
    addressLimit: DEFAULT_ADDRESS_LIMIT,
    messageRetention: DEFAULT_MESSAGE_RETENTION,
    mailsAccounts: false,
    eventRetention: DEFAULT_EVENT_RETENTION,
    ...options,
    delivery: { ...DEFAULT_DELIVERY_POLICY, ...options.delivery },
  } as const;
  const constructed = useCaseEntries.filter(([name]) => names === undefined || names.includes(name as Name));
  return Object.fromEntries(constructed.map(([name, UseCase]) => [name, new UseCase(ports, all)])) as Application<Name>;
}
