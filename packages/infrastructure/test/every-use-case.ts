import {
  type AccountId,
  type AnimalId,
  type Application,
  cursorOf,
  DAY,
  type DeliveryId,
  type EventId,
  type EventPosition,
  HOUR,
  later,
  type MessageId,
  MINUTE,
  type OrderId,
  plan,
  PURGED_KINDS,
  type Transaction,
} from '@adoption-store/domain';
import type {
  InMemoryAccountMailSender,
  InMemoryMessageSender,
  InMemoryWebhookSender,
  ManualClock,
  PredictablePasswordHasher,
} from '@adoption-store/domain/testing';
import { nodeCryptography } from '../src/kernel/node-platform.js';

export interface Surroundings {
  readonly clock: ManualClock;
  readonly messageSender: InMemoryMessageSender;
  readonly accountMailSender: InMemoryAccountMailSender;
  readonly webhookSender: InMemoryWebhookSender;
  readonly passwordHasher: PredictablePasswordHasher;
  /** The same store as long as no worker can send mail, so that a password alone opens an account. */
  readonly withoutMail: Application;
  /** Gives the account more ended keys than a statement may read. */
  readonly crowd: (accountId: AccountId, name: string) => Promise<unknown>;
}

/**
 * Runs each use case, so that it sends all of its statements. A new use case must be added to its context below: without
 * it `npm run lint`, which checks the suites' types, fails.
 */
export function everyUseCase(application: Application, surroundings: Surroundings, run: number) {
  const setting = new Setting(application, surroundings, run);
  return {
    ...animals(setting),
    ...categories(setting),
    ...orders(setting),
    ...messages(setting),
    ...events(setting),
    ...webhooks(setting),
    ...deliveries(setting),
    ...operatedAccounts(setting),
    ...keys(setting),
    ...heldAccounts(setting),
    ...addresses(setting),
    ...sessions(setting),
    ...limits(setting),
    ...idempotency(setting),
  } satisfies Record<keyof Application, () => Promise<unknown>>;
}

const partner = 1n as AccountId;
/** A customer with only recent orders. */
const newcomer = 2n as AccountId;
const both = [partner, newcomer];
const password = 'correct horse battery';

/** What the use cases of all contexts share, and what they begin with. */
class Setting {
  readonly name = `run-${this.run}`;
  readonly email = `${this.name}@example.com`;
  readonly animalId = BigInt((this.run + 1) * 1_000);

  constructor(
    readonly application: Application,
    readonly surroundings: Surroundings,
    readonly run: number,
  ) {}

  addAnimal(transaction?: Transaction) {
    return this.application.addAnimal.execute({ name: this.name, categoryId: 1n }, transaction);
  }

  async placeOrder() {
    const { id: animalId } = await this.addAnimal();
    const { id } = await this.application.placeOrder.execute({ accountId: partner, animalId });
    return { accountId: partner, id };
  }

  openAccount(whose: string) {
    return this.application.openAccount.execute({ email: `${whose}-${this.email}`, plan: plan('free') });
  }

  async issueKey(whose: string) {
    const { id: accountId } = await this.openAccount(whose);
    return this.application.issueKey.execute({ accountId, name: this.name });
  }

  async createWebhook(whose: string) {
    const { id: accountId } = await this.openAccount(`webhook-${whose}`);
    const { key } = await this.application.issueKey.execute({ accountId });
    const request = { accountId, actor: { keyId: key.id } };
    const target = { url: 'https://hooks.example.com', types: ['order.expired'] };
    const { webhook } = await this.application.createWebhook.execute({ ...request, ...target });
    return { ...request, id: webhook.id };
  }

  signUp(whose: string) {
    return this.surroundings.withoutMail.signUp.execute({ email: `${whose}-${this.email}`, password });
  }
}

function animals(setting: Setting) {
  const { application, name } = setting;
  return {
    addAnimal: () => Promise.all([1n, 2n, 3n].map((categoryId) => application.addAnimal.execute({ name, categoryId }))),
    getAnimal: () => Promise.all([7n, 8n].map((id) => application.getAnimal.execute(id))),
    listAnimals: async () => {
      const ids = [5n, 70_000n, 10_000_000n];
      const filters = [{}, { ids }, { categoryIds: [7n] }, { categoryIds: [0n, 8n, -1n], ids }];
      for (const limit of [1, 100]) {
        for (const status of [undefined, 'available', 'pending', 'sold'] as const) {
          for (const after of [undefined, 50_000n, 99_990n])
            for (const filter of filters) await application.listAnimals.execute({ status, limit, after, ...filter });
          const together = [100n, 50_000n, 99_990n];
          await Promise.all(together.map((after) => application.listAnimals.execute({ status, limit, after })));
          for (const categoryIds of [undefined, [1n]])
            await application.listAnimals.execute({ status, limit, categoryIds, before: 50_000n });
        }
      }
    },
    listAnimalsByName: async () => {
      for (const after of [undefined, { nameKey: 'animal 15', id: 15n as AnimalId }]) {
        for (const filter of [{}, { status: 'sold' as const }, { categoryIds: [7n] }, { ids: [5n, 15n, 10_000_000n] }])
          await application.listAnimalsByName.execute({ name: 'ANIMAL 1', after, ...filter });
        await application.listAnimalsByName.execute({ name: 'nobody', after, status: 'sold', categoryIds: [7n] });
      }
    },
    changeAnimal: async () => {
      const { id } = await setting.addAnimal();
      for (const status of ['pending', 'available'] as const)
        await application.changeAnimal.execute({ id, change: { name, categoryId: 2n, status } });
    },
    withdrawAnimal: async () => {
      const { id } = await setting.addAnimal();
      await application.withdrawAnimal.execute({ id });
    },
    importAnimals: async () => {
      async function* rows(...ids: readonly (bigint | undefined)[]) {
        yield ids.map((id, index) => ({ line: index + 2, animal: { id, name, categoryId: 1n } }));
      }
      const newId = 20_000_000n + BigInt(setting.run);
      await application.importAnimals.execute({ rows: rows(newId, 7n, newId) });
      await application.importAnimals.execute({ rows: rows(newId, undefined), isDryRun: true });
      await application.importAnimals.execute({ rows: rows(newId, undefined) });
    },
    // It reads all animals, which can't be cheaper.
    exportAnimals: async () => undefined,
  };
}

function categories({ application, surroundings, run, name, animalId }: Setting) {
  return {
    addCategory: () => application.addCategory.execute({ name: `${name} ${surroundings.clock.now()}` }),
    getCategory: () => application.getCategory.execute(7n),
    findCategory: () => application.findCategory.execute(name),
    listCategories: async () => {
      for (const after of [undefined, 50_000n]) {
        await application.listCategories.execute({ after });
        await application.listCategories.execute({ after, ids: [5n, 70_000n, 10_000_000n] });
      }
      await application.listCategories.execute({ before: 50_000n });
    },
    nameCategory: async () => {
      for (const id of [BigInt(-run - 1), animalId])
        await application.nameCategory.execute({ id, name: `${name} ${id}` });
    },
    deleteCategory: async () => {
      await application.deleteCategory.execute(await application.addCategory.execute({ name: `removed ${name}` }));
    },
  };
}

function orders(setting: Setting) {
  const { application, surroundings, animalId } = setting;
  return {
    placeOrder: () => application.placeOrder.execute({ accountId: partner, animalId }),
    endOrder: async () => {
      for (const outcome of ['completed', 'cancelled'] as const) {
        const { accountId: by, id } = await setting.placeOrder();
        await application.endOrder.execute({ by, id, outcome });
      }
    },
    getOrder: () => application.getOrder.execute({ accountId: partner, id: 11n }),
    getPlacedOrder: () => application.getPlacedOrder.execute({ accountId: partner, animalId }),
    listOrders: async () => {
      for (const accountId of [partner, newcomer, 50n as AccountId]) {
        for (const status of [undefined, 'placed', 'completed', 'cancelled', 'expired'] as const) {
          const list = { accountId, status };
          for (const after of [undefined, 50_000n, 99_990n])
            await application.listOrders.execute({ ...list, after, limit: 20 });
          for (const before of [undefined, 50_000n])
            await application.listOrders.execute({ ...list, first: 'newest', before });
        }
      }
    },
    listAllOrders: async () => {
      // Without a status it is a list of all orders, which can't be cheaper.
      for (const after of [undefined, 50_000n as OrderId])
        await application.listAllOrders.execute({ status: 'placed', after, limit: 1_000 });
    },
    expireOrders: async () => {
      await setting.placeOrder();
      surroundings.clock.advance(49 * HOUR);
      await application.expireOrders.execute();
    },
  };
}

function messages({ application, surroundings, run, name }: Setting) {
  const { clock, messageSender: sender } = surroundings;
  const dayBefore = () => ({ createdAt: later(clock.now(), -DAY), id: 'msg_7' as MessageId });
  return {
    queueMessage: () => application.queueMessage.execute({ accountId: partner, text: name }),
    getMessage: () => application.getMessage.execute({ accountId: partner, id: 'msg_7' }),
    listAllMessages: async () => {
      for (const after of [undefined, dayBefore()]) {
        for (const email of ['account-1@example.com', 'account-10@example.com'])
          await application.listAllMessages.execute({ email, after, limit: 20 });
        await application.listAllMessages.execute({ status: 'failed', after, limit: 20 });
      }
    },
    listMessages: async () => {
      for (const accountId of both)
        for (const place of [{}, { after: dayBefore() }, { before: dayBefore() }])
          await application.listMessages.execute({ accountId, ...place });
    },
    retryMessage: () => application.retryMessage.execute({ id: `msg_${run * 100 + 2}` }),
    retryFailedMessages: () => application.retryFailedMessages.execute({ since: later(clock.now(), -MINUTE) }),
    deliverMessages: async () => {
      await application.deliverMessages.execute();
      sender.failure = new Error('the mail server is away');
      await application.deliverMessages.execute();
      sender.failure = undefined;
      await application.deliverMessages.execute({ isStopping: () => true });
      await application.deliverMessages.backlog();
    },
  };
}

function events({ application }: Setting) {
  const cursorAt = (position: bigint) => {
    const id = `evt_${position.toString(16).padStart(32, '0')}` as EventId;
    return cursorOf({ position: position as EventPosition, id }, nodeCryptography);
  };
  return {
    listEvents: async () => {
      for (const accountId of both) {
        for (const types of [undefined, ['order.placed'], ['pet.removed', 'message.failed']] as const)
          for (const after of [undefined, cursorAt(7_000n), cursorAt(19_990n)])
            await application.listEvents.execute({ accountId, types, after, limit: 100 });
        await application.listEvents.execute({ accountId, from: 'now' });
      }
    },
    publishEvents: async () => {
      await application.publishEvents.execute();
      await application.publishEvents.backlog();
    },
  };
}

function webhooks(setting: Setting) {
  const { application } = setting;
  return {
    createWebhook: () => setting.createWebhook('create'),
    listWebhooks: async () => application.listWebhooks.execute(await setting.createWebhook('list')),
    getWebhook: async () => application.getWebhook.execute(await setting.createWebhook('get')),
    changeWebhook: async () => {
      const change = { url: 'https://new.example.com', status: 'disabled' } as const;
      await application.changeWebhook.execute({ ...(await setting.createWebhook('change')), change });
    },
    deleteWebhook: async () => application.deleteWebhook.execute(await setting.createWebhook('delete')),
    rotateWebhookSecret: async () => application.rotateWebhookSecret.execute(await setting.createWebhook('rotate')),
    // Without an account it is a list of all webhooks, in parts.
    listAllWebhooks: async () => {
      for (const email of [undefined, 'account-3@example.com'])
        await application.listAllWebhooks.execute({ email, limit: 100 });
    },
    switchAnyWebhook: async () => {
      const own = await setting.createWebhook('switch');
      for (const status of ['disabled', 'enabled'] as const)
        await application.switchAnyWebhook.execute({ ...own, status });
    },
    deleteAnyWebhook: async () => application.deleteAnyWebhook.execute(await setting.createWebhook('remove')),
    reencryptWebhooks: () => application.reencryptWebhooks.execute(),
    // A count of all rows can't be made cheaper.
    countWebhookSecrets: async () => undefined,
  };
}

function deliveries(setting: Setting) {
  const { application, surroundings } = setting;
  const existing = { accountId: 7n as AccountId, id: 'whk_7' };
  const hourAgo = () => later(surroundings.clock.now(), -HOUR);
  return {
    pingWebhook: async () => application.pingWebhook.execute(await setting.createWebhook('ping')),
    listDeliveries: async () => {
      const id = 'dlv_9007' as DeliveryId;
      for (const place of [{}, { after: id }, { before: id }])
        await application.listDeliveries.execute({ ...existing, ...place });
    },
    getDelivery: async () => {
      const { items } = await application.listDeliveries.execute(existing);
      for (const { id } of items.slice(0, 2)) await application.getDelivery.execute({ ...existing, deliveryId: id });
    },
    retryDelivery: async () => {
      const own = await setting.createWebhook('retry');
      const { id: deliveryId } = await application.pingWebhook.execute(own);
      await application.retryDelivery.execute({ ...own, deliveryId });
    },
    recoverDeliveries: async () => {
      const own = await setting.createWebhook('recover');
      await application.recoverDeliveries.execute({ ...own, since: hourAgo() });
    },
    wakeWebhooks: () => application.wakeWebhooks.execute(),
    deliverWebhooks: async () => {
      const own = await setting.createWebhook('follow');
      await setting.addAnimal();
      while ((await application.publishEvents.execute()).mayHaveMore);
      await application.recoverDeliveries.execute({ ...own, since: hourAgo() });
      await application.deliverWebhooks.execute();
      for (const answer of [204, 500, 410]) {
        await application.pingWebhook.execute(await setting.createWebhook(`deliver-${answer}`));
        surroundings.webhookSender.answer = () => answer;
        await application.deliverWebhooks.execute();
      }
      await application.deliverWebhooks.backlog();
    },
  };
}

/** What the operator does with accounts. */
function operatedAccounts({ application, email }: Setting) {
  return {
    openAccount: () => application.openAccount.execute({ email, plan: plan('free') }),
    changePlan: () => application.changePlan.execute({ email: 'account-3@example.com', plan: plan('pro') }),
    changeScopes: () => application.changeScopes.execute({ email: 'account-3@example.com', scopes: ['pets:read'] }),
    getAccount: () => application.getAccount.execute(newcomer),
    sendsMail: () => application.sendsMail.execute(),
    recordPortal: () => application.recordPortal.execute('https://portal.example.com'),
    findAccount: () => application.findAccount.execute('account-3@example.com'),
    // A list of all rows can't be made cheaper.
    listAccounts: async () => undefined,
  };
}

function keys(setting: Setting) {
  const { application } = setting;
  return {
    issueKey: async () => {
      await setting.issueKey('issue');
      await application.issueKey.execute({ accountId: partner });
    },
    rotateKey: async () => application.rotateKey.execute({ id: (await setting.issueKey('rotate')).key.id }),
    rollBackKey: async () => {
      const { key } = await setting.issueKey('take-back');
      await application.rollBackKey.execute(await application.rotateKey.execute({ id: key.id }));
    },
    revokeKey: async () => application.revokeKey.execute({ id: (await setting.issueKey('revoke')).key.id }),
    // Without an account it is a list of all keys, which can't be cheaper.
    listAllKeys: () => application.listAllKeys.execute({ email: 'account-3@example.com' }),
    renameKey: async () => {
      const { id, accountId } = (await setting.issueKey('rename')).key;
      await application.renameKey.execute({ id, accountId, name: 'other' });
    },
    switchKey: async () => {
      const { id } = (await setting.issueKey('switch')).key;
      for (const isDisabled of [true, false]) await application.switchKey.execute({ id, isDisabled });
    },
    listOperations: async () => application.listOperations.execute([(await setting.issueKey('operations')).key]),
    getKey: () => application.getKey.execute({ accountId: partner, id: 11n }),
    listKeys: async () => {
      for (const accountId of both)
        for (const states of [undefined, ['active', 'disabled']] as const)
          for (const place of [{}, { after: 50_000n }, { before: 50_000n }])
            await application.listKeys.execute({ accountId, states, ...place });
    },
    authenticate: async () => application.authenticate.execute((await setting.issueKey('authenticate')).text),
  };
}

/** What the holder of an account does with it. */
function heldAccounts(setting: Setting) {
  const { application, surroundings, name, email } = setting;
  const { accountMailSender: mailer, passwordHasher: hasher } = surroundings;
  return {
    signUp: () => setting.signUp('sign-up'),
    signIn: async () => {
      await setting.signUp('sign-in');
      // Rehashes, because the parameters have changed.
      hasher.generation += 1;
      await application.signIn.execute({ email: `sign-in-${email}`, password });
    },
    changePassword: async () => {
      const { id: accountId } = await setting.signUp('change');
      await application.changePassword.execute({ accountId, current: password, next: `${password}, again` });
    },
    requestPasswordReset: async () => {
      await setting.signUp('request');
      await application.requestPasswordReset.execute({ email: `request-${email}` });
    },
    resetPassword: async () => {
      await setting.signUp('reset');
      await application.requestPasswordReset.execute({ email: `reset-${email}` });
      await application.deliverAccountMails.execute();
      await application.resetPassword.execute({ token: mailer.resets.at(-1)?.token ?? '', password });
    },
    closeAccount: async () => {
      const { id: accountId } = await setting.signUp('close');
      await application.issueKey.execute({ accountId, name });
      await surroundings.crowd(accountId, name);
      await application.closeAccount.execute({ accountId, password });
    },
    endAccess: async () => {
      const { id: accountId, credentialVersion } = await setting.signUp('end-access');
      await application.endAccess.execute({ accountId, credentialVersion });
    },
    limitAttempts: async () => {
      for (const most of [2, 2, 2]) await application.limitAttempts.execute(email, { most, within: HOUR });
      await application.limitAttempts.refund(email);
      await application.limitAttempts.clear([email]);
    },
  };
}

/** The mails of accounts, and the addresses that they prove. */
function addresses(setting: Setting) {
  const { application, surroundings, run, email } = setting;
  const { accountMailSender: mailer } = surroundings;
  return {
    deliverAccountMails: async () => {
      for (const [number, failure] of [undefined, new Error('the mail server is away')].entries()) {
        mailer.failure = failure;
        await application.requestPasswordReset.execute({ email: `account-${run * 10 + number + 1}@example.com` });
        await application.deliverAccountMails.execute();
      }
      mailer.failure = undefined;
      await application.deliverAccountMails.backlog();
    },
    getSignUp: () => application.getSignUp.execute(),
    requestSignUp: async () => {
      for (const whose of ['want', `account-${run * 10 + 1}`])
        await application.requestSignUp.execute({ email: `${whose}-${email}` });
    },
    completeSignUp: async () => {
      await application.requestSignUp.execute({ email: `complete-${email}` });
      await application.deliverAccountMails.execute();
      await application.completeSignUp.execute({ token: mailer.signUps.at(-1)?.token ?? '', password });
    },
    requestAddressChange: async () => {
      const { id: accountId } = await setting.signUp('ask');
      await application.requestAddressChange.execute({ accountId, email: `asked-${email}`, password });
    },
    changeAddress: async () => {
      const { id: accountId } = await setting.signUp('move');
      await application.requestAddressChange.execute({ accountId, email: `moved-${email}`, password });
      await application.deliverAccountMails.execute();
      const [mail] = mailer.to(`moved-${email}`, 'change');
      await application.changeAddress.execute({ token: mail?.token ?? '', password });
    },
  };
}

function sessions(setting: Setting) {
  const { application, surroundings, run } = setting;
  return {
    beginSession: async () => {
      const account = await setting.signUp('begin');
      await application.beginSession.execute({ account, replacing: `session-${run + 1}` });
    },
    resumeSession: async () => {
      const token = await application.beginSession.execute({ account: await setting.signUp('resume') });
      surroundings.clock.advance(MINUTE);
      await application.resumeSession.execute(token ?? '');
    },
    renewSession: async () =>
      application.renewSession.execute({ id: `session-${run + 101}`, account: await setting.signUp('renew') }),
    endSession: () => application.endSession.execute({ id: `session-${run + 201}` }),
    endAllSessions: async () => {
      const account = await setting.signUp('end');
      await application.beginSession.execute({ account });
      await application.endAllSessions.execute({ accountId: account.id });
    },
  };
}

function limits(setting: Setting) {
  const { application, name, email } = setting;
  return {
    meterRequest: async () => {
      const most = plan('enterprise', { perMinute: 1, perDay: 1_000_000 });
      const account = await application.openAccount.execute({ email: `banned-${email}`, plan: most });
      const { text } = await application.issueKey.execute({ accountId: account.id });
      const source = await application.authenticate.execute(text);
      for (let count = 0; count < 60; count += 1) await application.meterRequest.execute(source);
    },
    getUsage: async () => {
      for (const accountId of both) {
        const { keys: used } = await application.getUsage.execute({ accountId });
        await application.getUsage.execute({ accountId, keyId: used[0]?.key.id });
      }
    },
    recordRequest: async () => {
      const { id: keyId } = (await setting.issueKey('record')).key;
      const { text } = await application.issueKey.execute({ accountId: partner });
      const verdict = await application.meterRequest.peek(await application.authenticate.execute(text));
      for (const accountId of both) {
        for (let index = 0; index < 120; index += 1) {
          const failedRequest = {
            operation: 'GET /v1/pets',
            status: 429,
            code: 'rate_limited',
            reason: `reason ${index}`,
            requestId: `${name}-${index}`,
          };
          application.recordRequest.execute(
            { accountId, keyId },
            { isUse: true, verdict, operation: 'list', failedRequest },
          );
        }
      }
    },
    listFailedRequests: async () => {
      for (const accountId of both)
        for (const requestId of [undefined, 'request-7'])
          await application.listFailedRequests.execute({ accountId, requestId });
    },
  };
}

function idempotency(setting: Setting) {
  const { application, run, name } = setting;
  return {
    answerOnce: async () => {
      // On the only connection, which the transaction has.
      const work = async (transaction: Transaction) => String((await setting.addAnimal(transaction)).id);
      for (const key of [name, name, `key-${(run + 1) * 50}`])
        await application.answerOnce.execute({ accountId: partner, key, fingerprint: name }, work);
    },
    purgeExpired: async () => {
      for (const kind of PURGED_KINDS) await application.purgeExpired.execute(kind);
    },
  };
}
