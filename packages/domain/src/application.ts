import { DeliverAccountMails } from './accounts/mails/deliver-account-mails.js';
import * as signIn from './accounts/sign-in/use-cases.js';
import * as keys from './accounts/keys/use-cases.js';
import type { KeyOptions, KeyPorts } from './accounts/keys/ports.js';
import type { AccountPorts } from './accounts/ports.js';
import type { HolderOptions, HolderPorts } from './accounts/sign-in/ports.js';
import * as accounts from './accounts/use-cases.js';
import type { AnimalPorts } from './animals/ports.js';
import * as animals from './animals/use-cases.js';
import type { CategoryPorts } from './categories/ports.js';
import * as categories from './categories/use-cases.js';
import { DEFAULT_DELIVERY_POLICY, type DeliveryOptions, type DeliveryPolicy } from './deliveries/deliver-batch.js';
import type { EventPorts } from './events/ports.js';
import * as events from './events/use-cases.js';
import { AnswerOnce } from './idempotency/use-cases.js';
import type { LimitOptions, LimitPorts } from './limits/ports.js';
import * as limits from './limits/use-cases.js';
import type { MessageOptions, MessagePorts } from './messages/ports.js';
import * as messages from './messages/use-cases.js';
import type { OrderOptions, OrderPorts } from './orders/ports.js';
import * as orders from './orders/use-cases.js';
import type { Ports } from './ports.js';
import {
  DEFAULT_EVENT_RETENTION,
  DEFAULT_MESSAGE_RETENTION,
  PurgeExpired,
  type PurgeOptions,
} from './purge-expired.js';
import type { StorePolicy } from './store-policy.js';
import type { SessionPorts } from './sessions/ports.js';
import * as sessions from './sessions/use-cases.js';
import type { WebhookOptions, WebhookPorts } from './webhooks/ports.js';
import * as webhooks from './webhooks/use-cases.js';

export type { Ports };

/** What one app decides. */
export interface ApplicationOptions extends Partial<HolderOptions & PurgeOptions & WebhookOptions> {
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
    messageRetention: DEFAULT_MESSAGE_RETENTION,
    mailsAccounts: false,
    eventRetention: DEFAULT_EVENT_RETENTION,
    ...given,
    delivery: { ...DEFAULT_DELIVERY_POLICY, ...given.delivery },
  } as const;
}

export function animalUseCases(ports: AnimalPorts) {
  return {
    addAnimal: new animals.AddAnimal(ports),
    listAnimals: new animals.ListAnimals(ports),
    listAnimalsByName: new animals.ListAnimalsByName(ports),
    getAnimal: new animals.GetAnimal(ports),
    changeAnimal: new animals.ChangeAnimal(ports),
    withdrawAnimal: new animals.WithdrawAnimal(ports),
    importAnimals: new animals.ImportAnimals(ports),
    exportAnimals: new animals.ExportAnimals(ports),
  };
}

export function categoryUseCases(ports: CategoryPorts) {
  return {
    addCategory: new categories.AddCategory(ports),
    listCategories: new categories.ListCategories(ports),
    getCategory: new categories.GetCategory(ports),
    findCategory: new categories.FindCategory(ports),
    nameCategory: new categories.NameCategory(ports),
    deleteCategory: new categories.DeleteCategory(ports),
  };
}

export function orderUseCases(ports: OrderPorts, options: OrderOptions) {
  return {
    placeOrder: new orders.PlaceOrder(ports, options),
    listOrders: new orders.ListOrders(ports),
    getOrder: new orders.GetOrder(ports, options),
    getPlacedOrder: new orders.GetPlacedOrder(ports),
    completeOrder: new orders.CompleteOrder(ports),
    cancelOrder: new orders.CancelOrder(ports),
    listAllOrders: new orders.ListAllOrders(ports),
    endAnyOrder: new orders.EndAnyOrder(ports),
    expireOrders: new orders.ExpireOrders(ports, options),
  };
}

export function messageUseCases(ports: MessagePorts, options: MessageOptions & DeliveryOptions) {
  return {
    queueMessage: new messages.QueueMessage(ports, options),
    getMessage: new messages.GetMessage(ports),
    listMessages: new messages.ListMessages(ports),
    listAllMessages: new messages.ListAllMessages(ports),
    retryMessage: new messages.RetryMessage(ports),
    retryFailedMessages: new messages.RetryFailedMessages(ports),
    deliverMessages: new messages.DeliverMessages(ports, options),
  };
}

export function eventUseCases(ports: EventPorts) {
  return {
    listEvents: new events.ListEvents(ports),
    publishEvents: new events.PublishEvents(ports),
  };
}

export function webhookUseCases(ports: WebhookPorts & Pick<KeyPorts, 'accounts'>, options: WebhookOptions) {
  return {
    createWebhook: new webhooks.CreateWebhook(ports),
    listWebhooks: new webhooks.ListWebhooks(ports),
    getWebhook: new webhooks.GetWebhook(ports),
    changeWebhook: new webhooks.ChangeWebhook(ports),
    deleteWebhook: new webhooks.DeleteWebhook(ports),
    rotateWebhookSecret: new webhooks.RotateWebhookSecret(ports),
    pingWebhook: new webhooks.PingWebhook(ports),
    listDeliveries: new webhooks.ListDeliveries(ports),
    getDelivery: new webhooks.GetDelivery(ports),
    retryDelivery: new webhooks.RetryDelivery(ports),
    recoverDeliveries: new webhooks.RecoverDeliveries(ports),
    wakeWebhooks: new webhooks.WakeWebhooks(ports),
    deliverWebhooks: new webhooks.DeliverWebhooks(ports, options),
    listAllWebhooks: new webhooks.ListAllWebhooks(ports),
    disableAnyWebhook: new webhooks.DisableAnyWebhook(ports),
    enableAnyWebhook: new webhooks.EnableAnyWebhook(ports),
    deleteAnyWebhook: new webhooks.DeleteAnyWebhook(ports),
    countWebhookSecrets: new webhooks.CountWebhookSecrets(ports),
    reencryptWebhooks: new webhooks.ReencryptWebhooks(ports),
  };
}

export function accountUseCases(ports: AccountPorts) {
  return {
    openAccount: new accounts.OpenAccount(ports),
    getAccount: new accounts.GetAccount(ports),
    findAccount: new accounts.FindAccount(ports),
    listAccounts: new accounts.ListAccounts(ports),
    changePlan: new accounts.ChangePlan(ports),
    changeScopes: new accounts.ChangeScopes(ports),
    sendsMail: new accounts.SendsMail(ports),
    recordPortal: new accounts.RecordPortal(ports),
  };
}

export function keyUseCases(ports: KeyPorts, options: KeyOptions) {
  return {
    issueKey: new keys.IssueKey(ports, options),
    getKey: new keys.GetKey(ports),
    listKeys: new keys.ListKeys(ports),
    listAllKeys: new keys.ListAllKeys(ports),
    listOperations: new keys.ListOperations(ports),
    renameKey: new keys.RenameKey(ports),
    disableKey: new keys.DisableKey(ports),
    enableKey: new keys.EnableKey(ports),
    rotateKey: new keys.RotateKey(ports, options),
    rollBackKey: new keys.RollBackKey(ports),
    revokeKey: new keys.RevokeKey(ports),
    authenticate: new keys.Authenticate(ports, options),
  };
}

export function holderUseCases(ports: HolderPorts, options: HolderOptions & DeliveryOptions) {
  return {
    getSignUp: new signIn.GetSignUp(ports, options),
    signUp: new signIn.SignUp(ports, options),
    requestSignUp: new signIn.RequestSignUp(ports, options),
    completeSignUp: new signIn.CompleteSignUp(ports, options),
    signIn: new signIn.SignIn(ports),
    limitAttempts: new signIn.LimitAttempts(ports),
    requestAddressChange: new signIn.RequestAddressChange(ports),
    changeAddress: new signIn.ChangeAddress(ports),
    changePassword: new signIn.ChangePassword(ports),
    requestPasswordReset: new signIn.RequestPasswordReset(ports),
    resetPassword: new signIn.ResetPassword(ports),
    closeAccount: new signIn.CloseAccount(ports),
    endAccess: new signIn.EndAccess(ports),
    deliverAccountMails: new DeliverAccountMails(ports, options),
  };
}

export function sessionUseCases(ports: SessionPorts) {
  return {
    beginSession: new sessions.BeginSession(ports),
    resumeSession: new sessions.ResumeSession(ports),
    renewSession: new sessions.RenewSession(ports),
    endSession: new sessions.EndSession(ports),
    endAllSessions: new sessions.EndAllSessions(ports),
  };
}

export function limitUseCases(ports: LimitPorts, options: LimitOptions) {
  return {
    meterRequest: new limits.MeterRequest(ports, options),
    recordRequest: new limits.RecordRequest(ports),
    getUsage: new limits.GetUsage(ports),
    listFailedRequests: new limits.ListFailedRequests(ports),
  };
}
