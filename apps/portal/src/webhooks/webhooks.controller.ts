import {
  type Account,
  type AccountRequest,
  AnswerOnce,
  ChangeWebhook,
  type Clock,
  CreateWebhook,
  DELIVERY_SCOPES,
  DeleteWebhook,
  deliveryIdFrom,
  EVENT_TYPES,
  type EventType,
  GetDelivery,
  GetWebhook,
  hasScopes,
  type Instant,
  instant,
  later,
  ListDeliveries,
  ListWebhooks,
  type OwnWebhook,
  MINUTE,
  PingWebhook,
  RecoverDeliveries,
  requireScopes,
  RetryDelivery,
  RotateWebhookSecret,
  SECRET_OVERLAP,
  type WebhookCommand,
  type WebhookDelivery,
} from '@adoption-store/domain';
import { Body, Controller, Get, Inject, Param, Post, Query } from '@nestjs/common';
import { CLOCK, CallsServers, SignedIn } from '../http/decorators.js';
import { checkedIn, type Form, formOf } from '../http/forms.js';
import { List } from '../http/lists.js';
import { type Answer, page, redirect } from '../http/pages.js';
import type { ListedWebhook, Views } from '../http/views.js';

/** An account without this scope can only look, as it can do nothing else with its keys. */
const TO_CHANGE = ['webhooks:write'] as const;

/** What the account may do. A form that would be refused isn't shown. */
function allowed(account: Account): Pick<Views['webhook'], 'mayChange' | 'mayHaveSent'> {
  return {
    mayChange: hasScopes({ account }, TO_CHANGE),
    mayHaveSent: hasScopes({ account }, DELIVERY_SCOPES),
  };
}

const LABELS = { url: 'URL', description: 'Description (optional)', access: '', types: 'What is sent' };

class WebhookForm extends formOf(LABELS) {
  readonly checked: readonly EventType[];

  constructor(body: unknown) {
    super(body);
    this.checked = checkedIn(body, 'types', EVENT_TYPES);
  }

  /** The checked types. Undefined for all: types that are added later are sent too. */
  get types(): readonly EventType[] | undefined {
    return this.values.access === 'full' ? undefined : this.checked;
  }
}

class RecoveryForm extends formOf({ since: 'Since (UTC)' }, 'recover-') {
  /** The minute that was typed, in UTC. Undefined if it isn't one. */
  get at(): Instant | undefined {
    const typed = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(this.values.since) ? Date.parse(`${this.values.since}Z`) : NaN;
    return Number.isNaN(typed) ? undefined : instant(typed);
  }
}

/** Seconds after which the page of a delivery that is attempted now is loaded again: `Refresh` (HTML §7.5.2). */
const RELOADED_AFTER = '3';

class ActionForm extends formOf({}) {}

/** A person's webhooks. Every use case gets the account that must own the webhook. */
@Controller('webhooks')
export class WebhooksController {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly answerOnce: AnswerOnce,
    private readonly listWebhooks: ListWebhooks,
    private readonly getWebhook: GetWebhook,
    private readonly listDeliveries: ListDeliveries,
    private readonly getDelivery: GetDelivery,
    private readonly createWebhook: CreateWebhook,
    private readonly changeWebhook: ChangeWebhook,
    private readonly pingWebhook: PingWebhook,
    private readonly retryDelivery: RetryDelivery,
    private readonly recoverDeliveries: RecoverDeliveries,
    private readonly rotateSecret: RotateWebhookSecret,
    private readonly deleteWebhook: DeleteWebhook,
  ) {}

  @Get()
  async show(@SignedIn() account: Account): Promise<Answer> {
    return this.showAll(account, new WebhookForm({ access: 'full' }));
  }

  @Post()
  @CallsServers(true)
  async create(@SignedIn() account: Account, @Body() form: WebhookForm): Promise<Answer> {
    requireScopes({ account }, DELIVERY_SCOPES);
    const request = requestOf(account);
    if (!(await this.isFirst(form, { ...request, id: 'new' }))) return redirect('/webhooks', 'form-sent-before');
    const { types, values } = form;
    const description = values.description.trim() || undefined;
    try {
      const created = await this.createWebhook.execute({ ...request, url: values.url.trim(), types, description });
      return page('new-secret', created);
    } catch (error) {
      return this.showAll(account, form.refused(error));
    }
  }

  @Get(':id')
  async showOne(@SignedIn() account: Account, @Param('id') id: string, @Query() query: unknown): Promise<Answer> {
    return this.showWebhook(account, id, query);
  }

  @Get(':id/edit')
  async showEdit(@SignedIn() account: Account, @Param('id') id: string): Promise<Answer> {
    const { url, types, description } = await this.getWebhook.execute(toChange(account, id));
    const access = types === undefined ? 'full' : 'restricted';
    return page('edit-webhook', { id, form: new WebhookForm({ url, types, description, access }) });
  }

  @Post(':id/edit')
  @CallsServers(true)
  async edit(@SignedIn() account: Account, @Param('id') id: string, @Body() form: WebhookForm): Promise<Answer> {
    const own = toChange(account, id);
    await this.getWebhook.execute(own);
    const { types = null, values } = form;
    const change = { url: values.url.trim(), types, description: values.description.trim() || null };
    try {
      await this.changeWebhook.execute({ ...own, change });
    } catch (error) {
      return page('edit-webhook', { id, form: form.refused(error) });
    }
    return redirect(`/webhooks/${id}`, 'webhook-changed');
  }

  @Get(':id/deliveries/:deliveryId')
  async showDelivery(
    @SignedIn() account: Account,
    @Param('id') id: string,
    @Param('deliveryId') deliveryId: string,
  ): Promise<Answer> {
    const found = await this.getDelivery.execute({ accountId: account.id, id, deliveryId });
    const shown = page('delivery', { ...found, ...allowed(account) });
    return (reply) => {
      if (isUnderWay(found.delivery, this.clock.now())) reply.header('refresh', RELOADED_AFTER);
      return shown(reply);
    };
  }

  @Post(':id/deliveries/:deliveryId/retry')
  async retry(
    @SignedIn() account: Account,
    @Param('id') id: string,
    @Param('deliveryId') deliveryId: string,
    @Body() form: ActionForm,
  ): Promise<Answer> {
    try {
      await this.retryDelivery.execute({ ...toChange(account, id), deliveryId });
    } catch (error) {
      return this.showWebhook(account, id, {}, { action: form.refused(error) });
    }
    return redirect(`/webhooks/${id}/deliveries/${deliveryId}`, 'delivery-queued');
  }

  @Post(':id/recover')
  async recover(@SignedIn() account: Account, @Param('id') id: string, @Body() form: RecoveryForm): Promise<Answer> {
    const own = toChange(account, id);
    const { at } = form;
    if (at === undefined) {
      const recovery = form.withProblems({ since: 'Must be a date and a time.' });
      return this.showWebhook(account, id, {}, { recovery });
    }
    try {
      await this.recoverDeliveries.execute({ ...own, since: at });
    } catch (error) {
      return this.showWebhook(account, id, {}, { recovery: form.refused(error) });
    }
    return redirect(`/webhooks/${id}`, 'deliveries-recovering');
  }

  @Post(':id/ping')
  async ping(@SignedIn() account: Account, @Param('id') id: string, @Body() form: ActionForm): Promise<Answer> {
    try {
      const { id: deliveryId } = await this.pingWebhook.execute(toChange(account, id));
      return redirect(`/webhooks/${id}/deliveries/${deliveryId}`, 'delivery-queued');
    } catch (error) {
      return this.showWebhook(account, id, {}, { action: form.refused(error) });
    }
  }

  @Post(':id/rotate')
  async rotate(@SignedIn() account: Account, @Param('id') id: string, @Body() form: ActionForm): Promise<Answer> {
    const own = toChange(account, id);
    await this.getWebhook.execute(own);
    if (!(await this.isFirst(form, own))) return redirect(`/webhooks/${id}`, 'form-sent-before');
    try {
      const rotated = await this.rotateSecret.execute(own);
      return page('new-secret', { ...rotated, formerUntil: later(rotated.webhook.updatedAt, SECRET_OVERLAP) });
    } catch (error) {
      return this.showWebhook(account, id, {}, { action: form.refused(error) });
    }
  }

  @Post(':id/enable')
  async enable(@SignedIn() account: Account, @Param('id') id: string): Promise<Answer> {
    await this.changeWebhook.execute({ ...toChange(account, id), change: { status: 'enabled' } });
    return redirect(`/webhooks/${id}`, 'webhook-enabled');
  }

  @Post(':id/disable')
  async disable(@SignedIn() account: Account, @Param('id') id: string): Promise<Answer> {
    await this.changeWebhook.execute({ ...toChange(account, id), change: { status: 'disabled' } });
    return redirect(`/webhooks/${id}`, 'webhook-disabled');
  }

  @Post(':id/delete')
  async delete(@SignedIn() account: Account, @Param('id') id: string): Promise<Answer> {
    await this.deleteWebhook.execute(toChange(account, id));
    return redirect('/webhooks', 'webhook-deleted');
  }

  private async showAll(account: Account, form: WebhookForm): Promise<Answer> {
    const webhooks: ListedWebhook[] = [];
    for (const webhook of await this.listWebhooks.execute({ accountId: account.id })) {
      const { items } = await this.listDeliveries.execute({ accountId: account.id, id: webhook.id, limit: 1 });
      webhooks.push({ webhook, last: items[0] });
    }
    return page('webhooks', { webhooks, form, mayHaveSent: allowed(account).mayHaveSent });
  }

  /** @param forms those that were refused. */
  private async showWebhook(
    account: Account,
    id: string,
    query: unknown,
    forms: Partial<Pick<Views['webhook'], 'action' | 'recovery'>> = {},
  ): Promise<Answer> {
    const list = new List(`/webhooks/${id}`, query, {});
    const found = await this.listDeliveries.execute({ accountId: account.id, id, ...list.position(deliveryIdFrom) });
    const { webhook, items: deliveries } = found;
    const shown = { webhook, deliveries, ...allowed(account), paging: list.paging(found) };
    return page('webhook', { ...shown, recovery: new RecoveryForm(), ...forms });
  }

  /**
   * A reload or a second click must not make another webhook, or replace a secret that was just shown. All forms of a page
   * have the same token, so the webhook is part of the mark. The mark is stored first: a transaction must not wait for the
   * servers that are asked about the URL.
   */
  private async isFirst({ token }: Form, { accountId, id }: OwnWebhook): Promise<boolean> {
    const form = { accountId, key: `form ${token} ${id}`, fingerprint: 'form' };
    return !(await this.answerOnce.execute(form, () => Promise.resolve('sent'))).isReplay;
  }
}

/** The webhook, if the account may change it. @throws InsufficientScope */
function toChange(account: Account, id: string): WebhookCommand {
  requireScopes({ account }, TO_CHANGE);
  return { ...requestOf(account), id };
}

/** The session is judged again where a change is stored. */
function requestOf({ id: accountId, credentialVersion }: Account): AccountRequest {
  return { accountId, actor: { credentialVersion } };
}

/** Whether it is attempted now, so that its page is worth another look. */
function isUnderWay({ nextAttemptAt: next }: WebhookDelivery, now: Instant): boolean {
  return next !== undefined && Math.abs(next - now) < MINUTE;
}
