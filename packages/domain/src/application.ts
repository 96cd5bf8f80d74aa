import { DeliverAccountMails } from './accounts/mails/deliver-account-mails.js';
import * as signIn from './accounts/sign-in/use-cases.js';
import * as keys from './accounts/keys/use-cases.js';
import type { HolderOptions } from './accounts/sign-in/ports.js';
import * as accounts from './accounts/use-cases.js';
import * as animals from './animals/use-cases.js';
import * as categories from './categories/use-cases.js';
import { DEFAULT_DELIVERY_POLICY, type DeliveryPolicy } from './deliveries/deliver-batch.js';
import * as events from './events/use-cases.js';
import { AnswerOnce } from './idempotency/use-cases.js';
import * as limits from './limits/use-cases.js';
import * as messages from './messages/use-cases.js';
import * as orders from './orders/use-cases.js';
import type { Ports } from './ports.js';
import {
  DEFAULT_EVENT_RETENTION,
  DEFAULT_MESSAGE_RETENTION,
  PurgeExpired,
  type PurgeOptions,
} from './purge-expired.js';
import type { StorePolicy } from './store-policy.js';
import * as sessions from './sessions/use-cases.js';
import type { WebhookOptions } from './webhooks/ports.js';
import * as webhooks from './webhooks/use-cases.js';

export type { Ports };

/** What one app decides. */
export interface ApplicationOptions extends Partial<HolderOptions & PurgeOptions & WebhookOptions> {
  readonly delivery?: Partial<DeliveryPolicy>;
}

/** What the service can do. Each app serves a part of it. An app with the ports of some contexts alone makes their use cases. */
export type Application = ReturnType<typeof createApplication>;

export function createApplication(ports: Ports, policy: StorePolicy, given: ApplicationOptions = {}) {
  const options = { ...withDefaults(given), ...policy };
  return {
    addAnimal: new animals.AddAnimal(ports),
    listAnimals: new animals.ListAnimals(ports),
    listAnimalsByName: new animals.ListAnimalsByName(ports),
    getAnimal: new animals.GetAnimal(ports),
    changeAnimal: new animals.ChangeAnimal(ports),
    withdrawAnimal: new animals.WithdrawAnimal(ports),
    importAnimals: new animals.ImportAnimals(ports),
    exportAnimals: new animals.ExportAnimals(ports),

    addCategory: new categories.AddCategory(ports),
    listCategories: new categories.ListCategories(ports),
    getCategory: new categories.GetCategory(ports),
    findCategory: new categories.FindCategory(ports),
    nameCategory: new categories.NameCategory(ports),
    deleteCategory: new categories.DeleteCategory(ports),

    placeOrder: new orders.PlaceOrder(ports, options),
    listOrders: new orders.ListOrders(ports),
    getOrder: new orders.GetOrder(ports, options),
    getPlacedOrder: new orders.GetPlacedOrder(ports),
    endOrder: new orders.EndOrder(ports),
    listAllOrders: new orders.ListAllOrders(ports),
    expireOrders: new orders.ExpireOrders(ports, options),

    queueMessage: new messages.QueueMessage(ports, options),
    getMessage: new messages.GetMessage(ports),
    listMessages: new messages.ListMessages(ports),
    listAllMessages: new messages.ListAllMessages(ports),
    retryMessage: new messages.RetryMessage(ports),
    retryFailedMessages: new messages.RetryFailedMessages(ports),
    deliverMessages: new messages.DeliverMessages(ports, options),

    listEvents: new events.ListEvents(ports),
    publishEvents: new events.PublishEvents(ports),

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
    switchAnyWebhook: new webhooks.SwitchAnyWebhook(ports),
    deleteAnyWebhook: new webhooks.DeleteAnyWebhook(ports),
    countWebhookSecrets: new webhooks.CountWebhookSecrets(ports),
    reencryptWebhooks: new webhooks.ReencryptWebhooks(ports),

    openAccount: new accounts.OpenAccount(ports),
    getAccount: new accounts.GetAccount(ports),
    findAccount: new accounts.FindAccount(ports),
    listAccounts: new accounts.ListAccounts(ports),
    changePlan: new accounts.ChangePlan(ports),
    changeScopes: new accounts.ChangeScopes(ports),
    sendsMail: new accounts.SendsMail(ports),
    recordPortal: new accounts.RecordPortal(ports),

    issueKey: new keys.IssueKey(ports, options),
    getKey: new keys.GetKey(ports),
    listKeys: new keys.ListKeys(ports),
    listAllKeys: new keys.ListAllKeys(ports),
    listOperations: new keys.ListOperations(ports),
    renameKey: new keys.RenameKey(ports),
    switchKey: new keys.SwitchKey(ports),
    rotateKey: new keys.RotateKey(ports, options),
    rollBackKey: new keys.RollBackKey(ports),
    revokeKey: new keys.RevokeKey(ports),
    authenticate: new keys.Authenticate(ports, options),

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

    beginSession: new sessions.BeginSession(ports),
    resumeSession: new sessions.ResumeSession(ports),
    renewSession: new sessions.RenewSession(ports),
    endSession: new sessions.EndSession(ports),
    endAllSessions: new sessions.EndAllSessions(ports),

    meterRequest: new limits.MeterRequest(ports, options),
    recordRequest: new limits.RecordRequest(ports),
    getUsage: new limits.GetUsage(ports),
    listFailedRequests: new limits.ListFailedRequests(ports),

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
