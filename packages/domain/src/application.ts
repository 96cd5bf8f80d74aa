import type { AccountMailPages } from './accounts/account-mail.js';
import type { KeyEnvironment } from './accounts/api-key-text.js';
import { Authenticate } from './accounts/authenticate.js';
import { ChangeAddress } from './accounts/change-address.js';
import { ChangePassword } from './accounts/change-password.js';
import { ChangePlan } from './accounts/change-plan.js';
import { CloseAccount } from './accounts/close-account.js';
import { DeliverAccountMails } from './accounts/deliver-account-mails.js';
import { DisableKey } from './accounts/disable-key.js';
import { GetAccount } from './accounts/get-account.js';
import { HoldToScopes } from './accounts/hold-to-scopes.js';
import { IssueKey } from './accounts/issue-key.js';
import { LimitAttempts } from './accounts/limit-attempts.js';
import { ListAccounts } from './accounts/list-accounts.js';
import { ListKeys } from './accounts/list-keys.js';
import { ListOperations } from './accounts/list-operations.js';
import { OpenAccount } from './accounts/open-account.js';
import { ProveAddress } from './accounts/prove-address.js';
import { RenameKey } from './accounts/rename-key.js';
import { RequestAddressChange } from './accounts/request-address-change.js';
import { RequestAddressProof } from './accounts/request-address-proof.js';
import { RequestPasswordReset } from './accounts/request-password-reset.js';
import { ResetPassword } from './accounts/reset-password.js';
import { RevokeKey } from './accounts/revoke-key.js';
import { RotateKey } from './accounts/rotate-key.js';
import type { Scopes } from './accounts/scope.js';
import { ShowKey } from './accounts/show-key.js';
import { ShowKeys } from './accounts/show-keys.js';
import { SignIn } from './accounts/sign-in.js';
import { SignUp } from './accounts/sign-up.js';
import { TakeBackKey } from './accounts/take-back-key.js';
import { AddAnimal } from './animals/add-animal.js';
import { ChangeAnimal } from './animals/change-animal.js';
import { ExportAnimals } from './animals/export-animals.js';
import { GetAnimal } from './animals/get-animal.js';
import { ImportAnimals } from './animals/import-animals.js';
import { ListAnimals } from './animals/list-animals.js';
import { WithdrawAnimal } from './animals/withdraw-animal.js';
import { AddCategory } from './categories/add-category.js';
import { GetCategory } from './categories/get-category.js';
import { ListCategories } from './categories/list-categories.js';
import { NameCategory } from './categories/name-category.js';
import { RemoveCategory } from './categories/remove-category.js';
import { DEFAULT_DELIVERY_POLICY, type DeliveryPolicy } from './deliveries/deliver-batch.js';
import { AnswerOnce } from './idempotency/answer-once.js';
import { DeliverMessages } from './messages/deliver-messages.js';
import { GetMessage } from './messages/get-message.js';
import { ListMessages } from './messages/list-messages.js';
import { QueueMessage } from './messages/queue-message.js';
import { RetryFailedMessages } from './messages/retry-failed-messages.js';
import { RetryMessage } from './messages/retry-message.js';
import { ShowMessages } from './messages/show-messages.js';
import { CancelOrder, CompleteOrder } from './orders/end-order.js';
import { DEFAULT_ORDER_TTL, ExpireOrders } from './orders/expire-orders.js';
import { GetOrder } from './orders/get-order.js';
import { ListOrders } from './orders/list-orders.js';
import { DEFAULT_ORDER_LIMIT } from './orders/order.js';
import { PlaceOrder } from './orders/place-order.js';
import type { Ports } from './ports.js';
import { DEFAULT_MESSAGE_RETENTION, PurgeExpired } from './purge-expired.js';
import { DEFAULT_ADDRESS_LIMIT, MeterRequest } from './limits/meter-request.js';
import { RecordRequest } from './limits/record-request.js';
import { ShowRefusals } from './limits/show-refusals.js';
import { ShowUsage } from './limits/show-usage.js';
import { BeginSession } from './sessions/begin-session.js';
import { EndAllSessions } from './sessions/end-all-sessions.js';
import { EndSession } from './sessions/end-session.js';
import { RenewSession } from './sessions/renew-session.js';
import { ResumeSession } from './sessions/resume-session.js';

export type { Ports };

export interface ApplicationOptions {
  /** The environment whose keys this deployment issues and accepts. Default: `live`. */
  readonly keyEnvironment?: KeyEnvironment;
  /** Requests without a valid key that an address may send in a minute. Default: 60. */
  readonly addressLimit?: number;
  /** The pages that mailed links open. Without them passwords can't be reset and addresses can't be proven. */
  readonly accountMailPages?: AccountMailPages | undefined;
  /** Whether addresses are proven by mail, by this process or another. Default: whether `accountMailPages` is given. */
  readonly provesAddresses?: boolean;
  /** The scopes of accounts that sign up themselves. Default: all. */
  readonly signupScopes?: Scopes;
  /** Milliseconds that an order may stay `placed`. Default: 48 hours. */
  readonly orderTtl?: number;
  /** Orders that an account may have placed at the same time. Default: 100. */
  readonly orderLimit?: number;
  /** Milliseconds that a sent or failed message is kept. Default: 90 days. */
  readonly messageRetention?: number;
  readonly delivery?: Partial<DeliveryPolicy>;
}

export type Application = ReturnType<typeof createApplication>;

/** Everything the service can do. */
export function createApplication(ports: Ports, options: ApplicationOptions = {}) {
  const { keyEnvironment = 'live', addressLimit = DEFAULT_ADDRESS_LIMIT, orderTtl = DEFAULT_ORDER_TTL } = options;
  const { orderLimit = DEFAULT_ORDER_LIMIT, messageRetention = DEFAULT_MESSAGE_RETENTION } = options;
  const delivery = { ...DEFAULT_DELIVERY_POLICY, ...options.delivery };
  const { animals, categories, orders, messages, messageSender, idempotency, clock, cryptography } = ports;
  const { accounts, apiKeys, credentials, attempts, sessions } = ports;
  const { accountMails, accountMailSender, passwordHasher, requests, requestRecords } = ports;
  const { accountMailPages: pages, provesAddresses = pages !== undefined } = options;
  const listOperations = new ListOperations(apiKeys, clock);
  const requestAddressProof = new RequestAddressProof(accountMails, cryptography, clock, pages?.proof);
  return {
    addAnimal: new AddAnimal(animals),
    getAnimal: new GetAnimal(animals),
    listAnimals: new ListAnimals(animals),
    changeAnimal: new ChangeAnimal(animals, cryptography),
    withdrawAnimal: new WithdrawAnimal(animals, cryptography, clock),
    importAnimals: new ImportAnimals(ports.animalImporter),
    exportAnimals: new ExportAnimals(animals),

    addCategory: new AddCategory(categories),
    getCategory: new GetCategory(categories),
    listCategories: new ListCategories(categories),
    nameCategory: new NameCategory(categories, cryptography),
    removeCategory: new RemoveCategory(categories, cryptography),

    placeOrder: new PlaceOrder(orders, clock, orderLimit),
    completeOrder: new CompleteOrder(orders, clock),
    cancelOrder: new CancelOrder(orders, clock),
    getOrder: new GetOrder(orders),
    listOrders: new ListOrders(orders),
    expireOrders: new ExpireOrders(orders, clock, orderTtl),

    queueMessage: new QueueMessage(messages, cryptography, clock),
    getMessage: new GetMessage(messages),
    listMessages: new ListMessages(accounts, messages),
    showMessages: new ShowMessages(messages),
    retryMessage: new RetryMessage(messages),
    retryFailedMessages: new RetryFailedMessages(messages),
    deliverMessages: new DeliverMessages(messages, messageSender, clock, cryptography, delivery),

    openAccount: new OpenAccount(accounts, clock, provesAddresses),
    getAccount: new GetAccount(accounts),
    listAccounts: new ListAccounts(accounts),
    changePlan: new ChangePlan(accounts, provesAddresses),
    holdToScopes: new HoldToScopes(accounts),
    issueKey: new IssueKey(apiKeys, cryptography, clock, keyEnvironment),
    rotateKey: new RotateKey(apiKeys, cryptography, clock, keyEnvironment),
    revokeKey: new RevokeKey(apiKeys, clock),
    renameKey: new RenameKey(apiKeys),
    disableKey: new DisableKey(apiKeys, clock),
    showKey: new ShowKey(apiKeys, requests, clock),
    showKeys: new ShowKeys(apiKeys, requests, listOperations, clock),
    listOperations,
    takeBackKey: new TakeBackKey(apiKeys, clock),
    listKeys: new ListKeys(accounts, apiKeys),
    authenticate: new Authenticate(apiKeys, cryptography, clock, keyEnvironment),

    signUp: new SignUp(credentials, passwordHasher, requestAddressProof, clock, options.signupScopes),
    signIn: new SignIn(credentials, passwordHasher),
    changePassword: new ChangePassword(credentials, passwordHasher),
    requestAddressProof,
    proveAddress: new ProveAddress(credentials, cryptography, clock),
    requestPasswordReset: new RequestPasswordReset(credentials, accountMails, cryptography, clock, pages?.reset),
    deliverAccountMails: new DeliverAccountMails(accountMails, accountMailSender, clock, cryptography, delivery),
    requestAddressChange: new RequestAddressChange(
      credentials,
      accountMails,
      passwordHasher,
      cryptography,
      clock,
      pages?.change,
    ),
    changeAddress: new ChangeAddress(credentials, cryptography, clock),
    resetPassword: new ResetPassword(credentials, passwordHasher, cryptography, clock),
    limitAttempts: new LimitAttempts(attempts, cryptography, clock),
    closeAccount: new CloseAccount(credentials, passwordHasher, clock),

    beginSession: new BeginSession(sessions, cryptography, clock),
    resumeSession: new ResumeSession(sessions, cryptography, clock),
    renewSession: new RenewSession(sessions, cryptography, clock),
    endSession: new EndSession(sessions),
    endAllSessions: new EndAllSessions(sessions),

    meterRequest: new MeterRequest(requests, clock, addressLimit),
    recordRequest: new RecordRequest(requestRecords, clock),
    showUsage: new ShowUsage(accounts, apiKeys, requests, requestRecords, clock),
    showRefusals: new ShowRefusals(requestRecords),
    answerOnce: new AnswerOnce(idempotency, clock),
    purgeExpired: new PurgeExpired(ports, messageRetention),
  };
}
