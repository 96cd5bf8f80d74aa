import { DeliverAccountMails } from './accounts/mails/deliver-account-mails.js';
import {
  ChangeAddress,
  ChangePassword,
  CloseAccount,
  CompleteSignUp,
  EndAccess,
  LimitAttempts,
  RequestAddressChange,
  RequestPasswordReset,
  RequestSignUp,
  ResetPassword,
  GetSignUp,
  SignIn,
  SignUp,
} from './accounts/sign-in/use-cases.js';
import {
  Authenticate,
  DisableKey,
  EnableKey,
  IssueKey,
  ListAllKeys,
  ListOperations,
  RenameKey,
  RevokeKey,
  RollBackKey,
  RotateKey,
  GetKey,
  ListKeys,
} from './accounts/keys/use-cases.js';
import type { KeyOptions, KeyPorts } from './accounts/keys/ports.js';
import type { AccountPorts } from './accounts/ports.js';
import type { HolderOptions, HolderPorts } from './accounts/sign-in/ports.js';
import {
  ChangePlan,
  ChangeScopes,
  FindAccount,
  GetAccount,
  ListAccounts,
  OpenAccount,
  RecordPortal,
  SendsMail,
} from './accounts/use-cases.js';
import type { AnimalPorts } from './animals/ports.js';
import {
  AddAnimal,
  ChangeAnimal,
  ExportAnimals,
  GetAnimal,
  ImportAnimals,
  ListAnimals,
  WithdrawAnimal,
} from './animals/use-cases.js';
import type { CategoryPorts } from './categories/ports.js';
import { AddCategory, GetCategory, ListCategories, NameCategory, DeleteCategory } from './categories/use-cases.js';
import { DEFAULT_DELIVERY_POLICY, type DeliveryOptions, type DeliveryPolicy } from './deliveries/deliver-batch.js';
import type { EventPorts } from './events/ports.js';
import { ListEvents, PublishEvents } from './events/use-cases.js';
import { AnswerOnce } from './idempotency/use-cases.js';
import type { LimitOptions, LimitPorts } from './limits/ports.js';
import { MeterRequest, RecordRequest, ListFailedRequests, GetUsage } from './limits/use-cases.js';
import type { MessageOptions, MessagePorts } from './messages/ports.js';
import {
  DeliverMessages,
  GetMessage,
  ListAllMessages,
  QueueMessage,
  RetryFailedMessages,
  RetryMessage,
  ListMessages,
} from './messages/use-cases.js';
import { DEFAULT_ORDER_TTL } from './orders/order.js';
import type { OrderOptions, OrderPorts } from './orders/ports.js';
import {
  CancelOrder,
  CompleteOrder,
  EndAnyOrder,
  ExpireOrders,
  GetOrder,
  ListAllOrders,
  ListOrders,
  PlaceOrder,
} from './orders/use-cases.js';
import type { Ports } from './ports.js';
import {
  DEFAULT_EVENT_RETENTION,
  DEFAULT_MESSAGE_RETENTION,
  PurgeExpired,
  type PurgeOptions,
} from './purge-expired.js';
import type { StorePolicy } from './store-policy.js';
import type { SessionPorts } from './sessions/ports.js';
import { BeginSession, EndAllSessions, EndSession, RenewSession, ResumeSession } from './sessions/use-cases.js';
import type { WebhookOptions, WebhookPorts } from './webhooks/ports.js';
import {
  ChangeWebhook,
  CountWebhookSecrets,
  CreateWebhook,
  DeleteWebhook,
  DeliverWebhooks,
  DisableAnyWebhook,
  EnableAnyWebhook,
  GetDelivery,
  GetWebhook,
  ListAllWebhooks,
  ListDeliveries,
  ListWebhooks,
  PingWebhook,
  RecoverDeliveries,
  ReencryptWebhooks,
  DeleteAnyWebhook,
  RetryDelivery,
  RotateWebhookSecret,
  WakeWebhooks,
} from './webhooks/use-cases.js';

export type { Ports };

/** What one app decides. */
export interface ApplicationOptions extends Partial<
  HolderOptions & Pick<OrderOptions, 'orderTtl'> & PurgeOptions & WebhookOptions
> {
  readonly delivery?: Partial<DeliveryPolicy>;
}

/** What the service can do. Each app serves a part of it. An app with the ports of some contexts alone takes their functions. */
export type Application = ReturnType<typeof createApplication>;

export function createApplication(ports: Ports, policy: StorePolicy, given: ApplicationOptions = {}) {
  const options = { ...withDefaults(given), ...policy };
  return {
    ...animalUseCases(ports),
    ...categoryUseCases(ports),
    ...orderUseCases(ports, options),
    ...messageUseCases(ports, options),
    ...eventUseCases(ports),
    ...webhookUseCases(ports, options),
    ...accountUseCases(ports),
    ...keyUseCases(ports, options),
    ...holderUseCases(ports, options),
    ...sessionUseCases(ports),
    ...limitUseCases(ports, options),
    answerOnce: new AnswerOnce(ports),
    purgeExpired: new PurgeExpired(ports, options),
  };
}

function withDefaults(given: ApplicationOptions) {
  return {
    opensUnproven: false,
    signupScopes: undefined,
    orderTtl: DEFAULT_ORDER_TTL,
    messageRetention: DEFAULT_MESSAGE_RETENTION,
    mailsAccounts: false,
    eventRetention: DEFAULT_EVENT_RETENTION,
    ...given,
    delivery: { ...DEFAULT_DELIVERY_POLICY, ...given.delivery },
  } as const;
}

export function animalUseCases(ports: AnimalPorts) {
  return {
    addAnimal: new AddAnimal(ports),
    listAnimals: new ListAnimals(ports),
    getAnimal: new GetAnimal(ports),
    changeAnimal: new ChangeAnimal(ports),
    withdrawAnimal: new WithdrawAnimal(ports),
    importAnimals: new ImportAnimals(ports),
    exportAnimals: new ExportAnimals(ports),
  };
}

export function categoryUseCases(ports: CategoryPorts) {
  return {
    addCategory: new AddCategory(ports),
    listCategories: new ListCategories(ports),
    getCategory: new GetCategory(ports),
    nameCategory: new NameCategory(ports),
    deleteCategory: new DeleteCategory(ports),
  };
}

export function orderUseCases(ports: OrderPorts, options: OrderOptions) {
  return {
    placeOrder: new PlaceOrder(ports, options),
    listOrders: new ListOrders(ports),
    getOrder: new GetOrder(ports),
    completeOrder: new CompleteOrder(ports),
    cancelOrder: new CancelOrder(ports),
    listAllOrders: new ListAllOrders(ports),
    endAnyOrder: new EndAnyOrder(ports),
    expireOrders: new ExpireOrders(ports, options),
  };
}

export function messageUseCases(ports: MessagePorts, options: MessageOptions & DeliveryOptions) {
  return {
    queueMessage: new QueueMessage(ports, options),
    getMessage: new GetMessage(ports),
    listMessages: new ListMessages(ports),
    listAllMessages: new ListAllMessages(ports),
    retryMessage: new RetryMessage(ports),
    retryFailedMessages: new RetryFailedMessages(ports),
    deliverMessages: new DeliverMessages(ports, options),
  };
}

export function eventUseCases(ports: EventPorts) {
  return {
    listEvents: new ListEvents(ports),
    publishEvents: new PublishEvents(ports),
  };
}

export function webhookUseCases(ports: WebhookPorts & Pick<KeyPorts, 'accounts'>, options: WebhookOptions) {
  return {
    createWebhook: new CreateWebhook(ports),
    listWebhooks: new ListWebhooks(ports),
    getWebhook: new GetWebhook(ports),
    changeWebhook: new ChangeWebhook(ports),
    deleteWebhook: new DeleteWebhook(ports),
    rotateWebhookSecret: new RotateWebhookSecret(ports),
    pingWebhook: new PingWebhook(ports),
    listDeliveries: new ListDeliveries(ports),
    getDelivery: new GetDelivery(ports),
    retryDelivery: new RetryDelivery(ports),
    recoverDeliveries: new RecoverDeliveries(ports),
    wakeWebhooks: new WakeWebhooks(ports),
    deliverWebhooks: new DeliverWebhooks(ports, options),
    listAllWebhooks: new ListAllWebhooks(ports),
    disableAnyWebhook: new DisableAnyWebhook(ports),
    enableAnyWebhook: new EnableAnyWebhook(ports),
    deleteAnyWebhook: new DeleteAnyWebhook(ports),
    countWebhookSecrets: new CountWebhookSecrets(ports),
    reencryptWebhooks: new ReencryptWebhooks(ports),
  };
}

export function accountUseCases(ports: AccountPorts) {
  return {
    openAccount: new OpenAccount(ports),
    getAccount: new GetAccount(ports),
    findAccount: new FindAccount(ports),
    listAccounts: new ListAccounts(ports),
    changePlan: new ChangePlan(ports),
    changeScopes: new ChangeScopes(ports),
    sendsMail: new SendsMail(ports),
    recordPortal: new RecordPortal(ports),
  };
}

export function keyUseCases(ports: KeyPorts, options: KeyOptions) {
  return {
    issueKey: new IssueKey(ports, options),
    getKey: new GetKey(ports),
    listKeys: new ListKeys(ports),
    listAllKeys: new ListAllKeys(ports),
    listOperations: new ListOperations(ports),
    renameKey: new RenameKey(ports),
    disableKey: new DisableKey(ports),
    enableKey: new EnableKey(ports),
    rotateKey: new RotateKey(ports, options),
    rollBackKey: new RollBackKey(ports),
    revokeKey: new RevokeKey(ports),
    authenticate: new Authenticate(ports, options),
  };
}

export function holderUseCases(ports: HolderPorts, options: HolderOptions & DeliveryOptions) {
  return {
    getSignUp: new GetSignUp(ports, options),
    signUp: new SignUp(ports, options),
    requestSignUp: new RequestSignUp(ports, options),
    completeSignUp: new CompleteSignUp(ports, options),
    signIn: new SignIn(ports),
    limitAttempts: new LimitAttempts(ports),
    requestAddressChange: new RequestAddressChange(ports),
    changeAddress: new ChangeAddress(ports),
    changePassword: new ChangePassword(ports),
    requestPasswordReset: new RequestPasswordReset(ports),
    resetPassword: new ResetPassword(ports),
    closeAccount: new CloseAccount(ports),
    endAccess: new EndAccess(ports),
    deliverAccountMails: new DeliverAccountMails(ports, options),
  };
}

export function sessionUseCases(ports: SessionPorts) {
  return {
    beginSession: new BeginSession(ports),
    resumeSession: new ResumeSession(ports),
    renewSession: new RenewSession(ports),
    endSession: new EndSession(ports),
    endAllSessions: new EndAllSessions(ports),
  };
}

export function limitUseCases(ports: LimitPorts, options: LimitOptions) {
  return {
    meterRequest: new MeterRequest(ports, options),
    recordRequest: new RecordRequest(ports),
    getUsage: new GetUsage(ports),
    listFailedRequests: new ListFailedRequests(ports),
  };
}
