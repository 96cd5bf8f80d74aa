import {
  type AccountId,
  type Application,
  DAY,
  type DeliveryId,
  type EventCursor,
  type EventPosition,
  FIRST_EPOCH,
  HOUR,
  later,
  type MessageId,
  MINUTE,
  plan,
  PURGED_KINDS,
} from '@adoption-store/domain';
import {
  type InMemoryAccountMailSender,
  type InMemoryMessageSender,
  type InMemoryWebhookSender,
  type ManualClock,
  type PredictablePasswordHasher,
  unchanged,
} from '@adoption-store/domain/testing';

const partner = 1n as AccountId;
/** A customer with only recent orders. */
const newcomer = 2n as AccountId;

export interface Surroundings {
  readonly clock: ManualClock;
  readonly sender: InMemoryMessageSender;
  readonly mailer: InMemoryAccountMailSender;
  readonly receiver: InMemoryWebhookSender;
  readonly hasher: PredictablePasswordHasher;
  /** Gives the account more ended keys than a statement may read. */
  readonly crowd: (accountId: AccountId, name: string) => Promise<unknown>;
}

/**
 * Runs each use case successfully and unsuccessfully. A new use case must be added here, otherwise this doesn't
 * compile.
 */
export function everyUseCase(application: Application, surroundings: Surroundings, run: number) {
  const { clock, sender, mailer, receiver, hasher, crowd } = surroundings;
  const name = `run-${run}`;
  const email = `${name}@example.com`;
  const inVain = (work: Promise<unknown>) => work.catch(() => undefined);
  const animalId = BigInt((run + 1) * 1_000);
  const order = async () => {
    const { id: added } = await application.addAnimal.execute({ name, categoryId: 1n });
    const { id } = await application.placeOrder.execute({ accountId: partner, animalId: added });
    return { accountId: partner, id };
  };
  const open = async (whose: string) =>
    application.openAccount.execute({ email: `${whose}-${email}`, plan: plan('free') });
  const webhook = async (whose: string) => {
    const { id: accountId } = await open(`webhook-${whose}`);
    const { key } = await application.issueKey.execute({ accountId });
    const request = { accountId, actor: { keyId: key.id } };
    const { webhook } = await application.createWebhook.execute({
      ...request,
      url: 'https://hooks.example.com',
      types: ['order.expired'],
    });
    return { ...request, id: webhook.id };
  };
  const key = async (whose: string) => application.issueKey.execute({ accountId: (await open(whose)).id, name });
  const password = 'correct horse battery';
  const signUp = (whose: string) => application.signUp.execute({ email: `${whose}-${email}`, password });
  /** One after the other. */
  const each = async <Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>) => {
    for (const item of items) await work(item);
  };
  const twice = (token: string | undefined, work: (token: string) => Promise<unknown>) =>
    each([token ?? '', token ?? ''], work);
  const both = (work: (accountId: AccountId) => Promise<unknown>) => each([partner, newcomer], work);
  const dayBefore = () => ({ createdAt: later(clock.now(), -DAY), id: 'msg_7' as MessageId });
  return {
    addAnimal: () => Promise.all([1n, 2n, 3n].map((categoryId) => application.addAnimal.execute({ name, categoryId }))),
    getAnimal: () => Promise.all([7n, 8n].map((id) => application.getAnimal.execute(id))),
    listAnimals: async () => {
      const ids = [5n, 70_000n, 10_000_000n];
      const filters = [
        {},
        { ids },
        ...[[7n], [0n, 8n, -1n]].flatMap((categoryIds) => [{ categoryIds }, { categoryIds, ids }]),
      ];
      for (const limit of [1, 100]) {
        for (const status of [undefined, 'available', 'pending', 'sold'] as const) {
          const list = (query: Partial<Parameters<typeof application.listAnimals.execute>[0]>) =>
            application.listAnimals.execute({ status, limit, ...query });
          for (const after of [undefined, 50_000n, 99_990n])
            await each(filters, (filter) => list({ after, ...filter }));
          await Promise.all([100n, 50_000n, 99_990n].map((after) => list({ after })));
          await each([undefined, [1n]], (categoryIds) => list({ categoryIds, before: 50_000n }));
        }
      }
    },
    changeAnimal: async () => {
      const { id } = await application.addAnimal.execute({ name, categoryId: 1n });
      for (const status of ['pending', 'available'] as const)
        await application.changeAnimal.execute({ id, change: { name, categoryId: 2n, status } });
      await inVain(application.changeAnimal.execute({ id, change: { status: 'sold' } }));
      await inVain(application.changeAnimal.execute({ id, change: { name }, condition: unchanged(undefined) }));
    },
    withdrawAnimal: async () => {
      const { id } = await application.addAnimal.execute({ name, categoryId: 1n });
      await inVain(application.withdrawAnimal.execute({ id, condition: unchanged(undefined) }));
      await application.withdrawAnimal.execute({ id });
      const { animalId: ordered } = await application.getOrder.execute(await order());
      await inVain(application.withdrawAnimal.execute({ id: ordered }));
    },
    addCategory: async () => {
      const added = await application.addCategory.execute({ name: `${name} ${clock.now()}` });
      await inVain(application.addCategory.execute(added));
    },
    getCategory: () => application.getCategory.execute(7n),
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
      await inVain(application.nameCategory.execute({ id: animalId, name: 'Category 7' }));
    },
    removeCategory: async () => {
      await application.removeCategory.execute(await application.addCategory.execute({ name: `removed ${name}` }));
      await inVain(application.removeCategory.execute({ id: 7n }));
      await inVain(application.removeCategory.execute({ id: 8n, condition: unchanged(undefined) }));
    },
    importAnimals: async () => {
      async function* rows(...ids: readonly (bigint | undefined)[]) {
        yield ids.map((id, index) => ({ line: index + 2, animal: { id, name, categoryId: 1n } }));
      }
      const newId = 20_000_000n + BigInt(run);
      await application.importAnimals.execute({ rows: rows(newId, 7n, newId) });
      await application.importAnimals.execute({ rows: rows(newId, undefined), isDryRun: true });
      await application.importAnimals.execute({ rows: rows(newId, undefined) });
    },
    // It reads all animals, which can't be cheaper.
    exportAnimals: async () => undefined,
    placeOrder: async () => {
      await application.placeOrder.execute({ accountId: partner, animalId });
      await inVain(application.placeOrder.execute({ accountId: partner, animalId: 10_000_000n }));
    },
    completeOrder: async () => application.completeOrder.execute(await order()),
    cancelOrder: async () => application.cancelOrder.execute(await order()),
    getOrder: () => application.getOrder.execute({ accountId: partner, id: 11n }),
    listOrders: async () => {
      for (const accountId of [partner, newcomer, 50n as AccountId]) {
        for (const status of [undefined, 'placed', 'completed', 'cancelled', 'expired'] as const) {
          const oldest = [undefined, 50_000n, 99_990n].map((after) => ({ after, limit: 20 }));
          const newest = [{}, { before: 50_000n }].map((place) => ({ first: 'newest' as const, ...place }));
          await each([...oldest, ...newest], (page) => application.listOrders.execute({ accountId, status, ...page }));
        }
      }
    },
    expireOrders: async () => {
      await order();
      clock.advance(49 * HOUR);
      await application.expireOrders.execute();
    },
    queueMessage: () => application.queueMessage.execute({ accountId: partner, text: name }),
    getMessage: () => application.getMessage.execute({ accountId: partner, id: 'msg_7' }),
    listMessages: async () => {
      const whose = [
        { email: 'account-1@example.com' },
        { email: 'account-10@example.com' },
        { status: 'failed' as const },
      ];
      for (const after of [undefined, dayBefore()])
        await each(whose, (filter) => application.listMessages.execute({ ...filter, after, limit: 20 }));
    },
    retryMessage: async () => {
      await application.retryMessage.execute({ id: `msg_${run * 100 + 2}` });
      await inVain(application.retryMessage.execute({ id: 'msg_7' }));
    },
    retryFailedMessages: async () => {
      await application.retryFailedMessages.execute({ since: later(clock.now(), -MINUTE) });
    },
    deliverMessages: async () => {
      await application.deliverMessages.execute();
      sender.failure = new Error('the mail server is away');
      await application.deliverMessages.execute();
      sender.failure = undefined;
      await application.deliverMessages.execute({ isStopping: () => true });
      await application.deliverMessages.backlog();
    },
    listEvents: async () => {
      for (const types of [undefined, ['order.placed'], ['pet.removed', 'message.failed']] as const)
        for (const after of [undefined, cursorOf(7_000n), cursorOf(19_990n)])
          await both((accountId) => application.listEvents.execute({ accountId, types, after, limit: 100 }));
      await both((accountId) => application.listEvents.execute({ accountId, from: 'now' }));
    },
    publishEvents: async () => {
      await application.publishEvents.execute();
      await application.publishEvents.backlog();
    },
    createWebhook: () => webhook('create'),
    listWebhooks: async () => application.listWebhooks.execute(await webhook('list')),
    getWebhook: async () => application.getWebhook.execute(await webhook('get')),
    changeWebhook: async () => {
      const change = { url: 'https://new.example.com', status: 'disabled' } as const;
      const own = await webhook('change');
      await application.changeWebhook.execute({ ...own, change });
      await inVain(application.changeWebhook.execute({ ...own, change, condition: unchanged(undefined) }));
    },
    deleteWebhook: async () => application.deleteWebhook.execute(await webhook('delete')),
    rotateWebhookSecret: async () => application.rotateWebhookSecret.execute(await webhook('rotate')),
    pingWebhook: async () => application.pingWebhook.execute(await webhook('ping')),
    listDeliveries: () => {
      const own = { accountId: 7n as AccountId, id: 'whk_7' };
      const places = [{}, { after: 'dlv_9007' as DeliveryId }, { before: 'dlv_9007' as DeliveryId }];
      return each(places, (place) => application.listDeliveries.execute({ ...own, ...place }));
    },
    getDelivery: async () => {
      const own = { accountId: 7n as AccountId, id: 'whk_7' };
      const { items } = await application.listDeliveries.execute(own);
      return each(items.slice(0, 2), ({ id }) => application.getDelivery.execute({ ...own, deliveryId: id }));
    },
    retryDelivery: async () => {
      const own = await webhook('retry');
      const { id: deliveryId } = await application.pingWebhook.execute(own);
      await application.retryDelivery.execute({ ...own, deliveryId });
      await inVain(application.retryDelivery.execute({ ...own, deliveryId: 'dlv_7' }));
    },
    recoverDeliveries: async () => {
      const own = await webhook('recover');
      await application.recoverDeliveries.execute({ ...own, since: later(clock.now(), -HOUR) });
    },
    // Without an account it is a list of all webhooks, in parts.
    listAllWebhooks: () =>
      each([undefined, 'account-3@example.com'], (whose) =>
        application.listAllWebhooks.execute({ email: whose, limit: 100 }),
      ),
    disableWebhook: async () => {
      const { id } = await webhook('disable');
      for (const isDisabled of [true, false]) await application.disableWebhook.execute({ id, isDisabled });
    },
    removeWebhook: async () => application.removeWebhook.execute(await webhook('remove')),
    reencryptWebhooks: () => application.reencryptWebhooks.execute(),
    // A count of all rows can't be made cheaper.
    countWebhookSecrets: async () => undefined,
    wakeWebhooks: () => application.wakeWebhooks.execute(),
    deliverWebhooks: async () => {
      const own = await webhook('follow');
      await application.addAnimal.execute({ name: 'Luna', categoryId: 1n });
      while ((await application.publishEvents.execute()).mayHaveMore);
      await application.recoverDeliveries.execute({ ...own, since: later(clock.now(), -HOUR) });
      await application.deliverWebhooks.execute();
      for (const answer of [204, 500, 410]) {
        await application.pingWebhook.execute(await webhook(`deliver-${answer}`));
        receiver.answer = () => answer;
        await application.deliverWebhooks.execute();
      }
      await application.deliverWebhooks.backlog();
    },
    openAccount: () => application.openAccount.execute({ email, plan: plan('free') }),
    changePlan: () => application.changePlan.execute({ email: 'account-3@example.com', plan: plan('pro') }),
    changeScopes: async () => {
      await application.changeScopes.execute({ email: 'account-3@example.com', scopes: ['pets:read'] });
      await inVain(application.changeScopes.execute({ email: 'nobody@example.com', scopes: undefined }));
    },
    getAccount: () => application.getAccount.execute(newcomer),
    // A list of all rows can't be made cheaper.
    listAccounts: async () => undefined,
    issueKey: async () => {
      await key('issue');
      await application.issueKey.execute({ accountId: partner });
    },
    rotateKey: async () => application.rotateKey.execute({ id: (await key('rotate')).key.id }),
    rollBackKey: async () => {
      const { key: old } = await key('take-back');
      await application.rollBackKey.execute(await application.rotateKey.execute({ id: old.id }));
    },
    revokeKey: async () => application.revokeKey.execute({ id: (await key('revoke')).key.id }),
    // Without an account it is a list of all keys, which can't be cheaper.
    listKeys: () => application.listKeys.execute({ email: 'account-3@example.com' }),
    renameKey: async () => {
      const { id, accountId } = (await key('rename')).key;
      await application.renameKey.execute({ id, accountId, name: 'other' });
    },
    disableKey: async () => {
      const { id } = (await key('disable')).key;
      for (const isDisabled of [true, false]) await application.disableKey.execute({ id, isDisabled });
    },
    listOperations: async () => application.listOperations.execute([(await key('operations')).key]),
    showMessages: () =>
      both((accountId) =>
        each([{}, { after: dayBefore() }, { before: dayBefore() }], (place) =>
          application.showMessages.execute({ accountId, ...place }),
        ),
      ),
    showKey: () => application.showKey.execute({ accountId: partner, id: 11n }),
    showKeys: () =>
      both(async (accountId) => {
        for (const states of [undefined, ['active', 'disabled']] as const) {
          const places = [{}, { after: 50_000n }, { before: 50_000n }];
          await each(places, (place) => application.showKeys.execute({ accountId, states, ...place }));
        }
      }),
    authenticate: async () => application.authenticate.execute((await key('authenticate')).text),
    signUp: async () => {
      await signUp('sign-up');
      await inVain(signUp('sign-up'));
    },
    signIn: async () => {
      await signUp('sign-in');
      // Rehashes, because the parameters have changed.
      hasher.generation += 1;
      await each(['sign-in', 'nobody'], (who) => application.signIn.execute({ email: `${who}-${email}`, password }));
    },
    changePassword: async () => {
      const { id: accountId } = await signUp('change');
      await application.changePassword.execute({ accountId, current: password, next: `${password} staple` });
    },
    requestPasswordReset: async () => {
      await signUp('request');
      await each(['request', 'nobody'], (who) =>
        application.requestPasswordReset.execute({ email: `${who}-${email}` }),
      );
    },
    resetPassword: async () => {
      await signUp('reset');
      await application.requestPasswordReset.execute({ email: `reset-${email}` });
      await application.deliverAccountMails.execute();
      await twice(mailer.resets.at(-1)?.token, (token) => application.resetPassword.execute({ token, password }));
    },
    deliverAccountMails: async () => {
      for (const [number, failure] of [undefined, new Error('the mail server is away')].entries()) {
        mailer.failure = failure;
        await application.requestPasswordReset.execute({ email: `account-${run * 10 + number + 1}@example.com` });
        await application.deliverAccountMails.execute();
      }
      mailer.failure = undefined;
      await application.deliverAccountMails.backlog();
    },
    limitAttempts: async () => {
      for (const limit of [2, 2, 2]) await application.limitAttempts.execute(email, { most: limit, within: HOUR });
      await application.limitAttempts.refund(email);
      await application.limitAttempts.clear([email]);
    },
    requestAddressProof: async () => {
      await application.requestAddressProof.execute(await signUp('proof'));
    },
    proveAddress: async () => {
      await signUp('prove');
      await application.deliverAccountMails.execute();
      await twice(mailer.proofs.at(-1)?.token, (token) => application.proveAddress.execute({ token }));
    },
    requestAddressChange: async () => {
      const { id: accountId } = await signUp('ask');
      for (const each of [password, 'another horse battery'])
        await inVain(application.requestAddressChange.execute({ accountId, email: `asked-${email}`, password: each }));
    },
    changeAddress: async () => {
      const { id: accountId } = await signUp('move');
      await application.requestAddressChange.execute({ accountId, email: `moved-${email}`, password });
      await application.deliverAccountMails.execute();
      const [mail] = mailer.to(`moved-${email}`, 'change');
      await twice(mail?.token, (token) => application.changeAddress.execute({ token }));
    },
    closeAccount: async () => {
      const { id: accountId } = await signUp('close');
      await application.issueKey.execute({ accountId, name });
      await crowd(accountId, name);
      await application.closeAccount.execute({ accountId, password });
    },
    beginSession: async () => {
      const account = await signUp('begin');
      await application.beginSession.execute({ account, replacing: `session-${run + 1}` });
    },
    resumeSession: async () => {
      const token = await application.beginSession.execute({ account: await signUp('resume') });
      clock.advance(MINUTE);
      for (const each of [token ?? '', 'unknown']) await application.resumeSession.execute(each);
    },
    renewSession: async () => {
      await application.renewSession.execute({ id: `session-${run + 101}`, account: await signUp('renew') });
    },
    endSession: () => application.endSession.execute({ id: `session-${run + 201}` }),
    endAllSessions: async () => {
      const account = await signUp('end');
      await application.beginSession.execute({ account });
      await application.endAllSessions.execute({ accountId: account.id });
    },
    meterRequest: async () => {
      const limits = plan('enterprise', { perMinute: 1, perDay: 1_000_000 });
      const account = await application.openAccount.execute({ email: `banned-${email}`, plan: limits });
      const { text } = await application.issueKey.execute({ accountId: account.id });
      const source = await application.authenticate.execute(text);
      for (let count = 0; count < 60; count += 1) await application.meterRequest.execute(source);
    },
    showUsage: () =>
      both(async (accountId) => {
        const { keys } = await application.showUsage.execute({ accountId });
        await application.showUsage.execute({ accountId, keyId: keys[0]?.key.id });
      }),
    recordRequest: async () => {
      const { id: keyId } = (await key('record')).key;
      const { text } = await application.issueKey.execute({ accountId: partner });
      const verdict = await application.meterRequest.look(await application.authenticate.execute(text));
      await both(async (accountId) => {
        for (let index = 0; index < 120; index += 1) {
          const refusal = { operation: 'GET /v1/pets', code: 'rate_limited', requestId: `${name}-${index}` };
          application.recordRequest.execute({ accountId, keyId }, { isUse: true, verdict, operation: 'list', refusal });
        }
      });
    },
    showRefusals: () =>
      both((accountId) =>
        each([undefined, 'request-7'], (requestId) => application.showRefusals.execute({ accountId, requestId })),
      ),
    answerOnce: async () => {
      const work = () => application.addAnimal.execute({ name, categoryId: 1n }).then(String);
      for (const each of [name, name, `key-${(run + 1) * 50}`]) {
        await inVain(application.answerOnce.execute({ accountId: partner, key: each, fingerprint: name }, work));
      }
    },
    purgeExpired: () => each(PURGED_KINDS, (kind) => application.purgeExpired.execute(kind)),
  } satisfies Record<keyof Application, () => Promise<unknown>>;
}

function cursorOf(position: bigint): EventCursor {
  return { epoch: FIRST_EPOCH, position: position as EventPosition };
}
