import { type AccountWebhook, isoTime, type WebhookId, webhookJson, type WebhookStatus } from '@adoption-store/domain';
import { addressOf, type Command, eachOf, parse, parseList, type Program, UsageError } from '../command-line.js';
import { accountJson, counted, inParts, listing, timeOr } from '../output.js';

const USAGE = `Usage:
  npm run -s webhooks -- list [--account EMAIL] [--json]
      shows all webhooks, or those of an account, never their secrets; with
      --json an object a line.
  npm run -s webhooks -- disable|enable ID [ID…]
      disables or enables webhooks. A disabled one is sent nothing. Its owner
      may enable it again.
  npm run -s webhooks -- delete ID [ID…]
      deletes webhooks with their deliveries.
  npm run -s webhooks -- secrets
      shows how many webhooks have their secrets encrypted with the first
      secret of WEBHOOK_SECRET, and how many need others. Give it the
      WEBHOOK_SECRET of the services.
`;

const WEBHOOK_ID = /^whk_[0-9A-Za-z]{24}$/;

export const webhookCommands: Program = {
  commands: {
    list,
    disable: (args) => change(args, 'disabled'),
    enable: (args) => change(args, 'enabled'),
    delete: remove,
    secrets: countSecrets,
  },
  usage: USAGE,
};

function list(args: string[]): Command {
  const { values, isJson } = parseList(args, ['account']);
  const { account } = values;
  const email = account === undefined ? undefined : addressOf(account);
  return async ({ listAllWebhooks }, { nameOf }) => {
    const webhooks = inParts<AccountWebhook, WebhookId>(
      (part) => listAllWebhooks.execute({ email, ...part }),
      ({ webhook }) => webhook.id,
    );
    return listing(isJson, webhooks, {
      heads: ['ID', 'ACCOUNT', 'STATUS', 'FAILING SINCE', 'RECOVERING SINCE', 'URL'],
      rowOf: ({ account: owner, webhook, failingSince }) => [
        webhook.id,
        nameOf(owner),
        webhook.status,
        timeOr('-', failingSince),
        timeOr('-', webhook.recoveringSince),
        webhook.url,
      ],
      jsonOf: ({ account: owner, webhook, failingSince: since }) => ({
        ...webhookJson(webhook),
        failingSince: since === undefined ? undefined : isoTime(since),
        account: accountJson(owner),
      }),
    });
  };
}

function change(args: string[], status: WebhookStatus): Command {
  const ids = idsIn(args);
  return async ({ switchAnyWebhook }) =>
    eachOf(ids, async (id) => {
      await switchAnyWebhook.execute({ id, status });
      return `webhook ${id} is ${status}\n`;
    });
}

function remove(args: string[]): Command {
  const ids = idsIn(args);
  return async ({ deleteAnyWebhook }) =>
    eachOf(ids, async (id) => {
      await deleteAnyWebhook.execute({ id });
      return `webhook ${id} is deleted\n`;
    });
}

function countSecrets(args: string[]): Command {
  parse(args, []);
  return async ({ countWebhookSecrets }) => {
    const { first, older, unknown } = await countWebhookSecrets.execute();
    return [
      `${counted(first, 'webhook')} encrypted with the first secret\n`,
      `${counted(older, 'webhook')} encrypted with an older one of WEBHOOK_SECRET\n`,
      `${counted(unknown, 'webhook')} encrypted with none of them, or not looked at by a worker yet\n`,
    ].join('');
  };
}

function idsIn(args: string[]): readonly string[] {
  const ids = parse(args, [], ['ID…']).positionals;
  if (ids.length === 0) throw new UsageError('the ID of a webhook is required');
  if (!ids.every((id) => WEBHOOK_ID.test(id))) throw new UsageError('ID must be as `list` shows it, such as whk_…');
  return ids;
}
