import {
  type AccountMessage,
  isoTime,
  type ListAllMessagesInput,
  type MessagePosition,
  readInstant,
} from '@adoption-store/domain';
import { addressOf, type Command, eachOf, parse, parseList, type Program, UsageError } from '../command-line.js';
import { accountJson, inParts, listing } from '../output.js';

const USAGE = `Usage:
  npm run -s messages -- list --failed [--account EMAIL] [--json]
  npm run -s messages -- list --account EMAIL [--json]
      shows the messages that have failed, or those of an account, the oldest
      first, never their text; with --json an object a line.
  npm run -s messages -- retry ID [ID…]
      queues messages again that have failed, with all their attempts.
  npm run -s messages -- retry --all-failed --since TIME
      queues every failed message again that was written at that time or later,
      such as 2026-11-01T00:00:00Z.
`;

const MESSAGE_ID = /^msg_[0-9A-Za-z]{24}$/;

export const messageCommands: Program = { commands: { list, retry }, usage: USAGE };

function list(args: string[]): Command {
  const { values, isOn, isJson } = parseList(args, ['account'], ['failed']);
  const filter = filterOf(values['account'], isOn('failed'));
  return async ({ listAllMessages }, { nameOf }) => {
    const messages = inParts<AccountMessage, MessagePosition>(
      (part) => listAllMessages.execute({ ...filter, ...part }),
      ({ message }) => message,
    );
    return listing(isJson, messages, {
      heads: ['ID', 'ACCOUNT', 'STATUS', 'WRITTEN'],
      rowOf: ({ account, message }) => [message.id, nameOf(account), message.status, isoTime(message.createdAt)],
      jsonOf: ({ account, message }) => ({
        id: message.id,
        status: message.status,
        createdAt: isoTime(message.createdAt),
        account: accountJson(account),
      }),
    });
  };
}

function filterOf(account: string | undefined, isFailed: boolean): ListAllMessagesInput {
  if (account !== undefined) return { email: addressOf(account), status: isFailed ? 'failed' : undefined };
  if (!isFailed) throw new UsageError('--failed or --account is required');
  return { status: 'failed' };
}

function retry(args: string[]): Command {
  const { values, positionals: ids, isOn } = parse(args, ['since'], ['ID…'], ['all-failed']);
  if (isOn('all-failed')) {
    if (ids.length > 0) throw new UsageError('--all-failed goes without an ID');
    const { since: text } = values;
    if (text === undefined) throw new UsageError('--since is required with --all-failed');
    const since = readInstant('--since', text);
    return async ({ retryFailedMessages }) => {
      const count = await retryFailedMessages.execute({ since });
      return `${count} ${count === 1 ? 'message is' : 'messages are'} queued again\n`;
    };
  }
  if (values['since'] !== undefined) throw new UsageError('--since goes with --all-failed');
  if (ids.length === 0) throw new UsageError('the ID of a message, or --all-failed, is required');
  if (!ids.every((id) => MESSAGE_ID.test(id))) throw new UsageError('ID must be as `list` shows it, such as msg_…');
  return async ({ retryMessage }) =>
    eachOf(ids, async (id) => {
      await retryMessage.execute({ id });
      return `message ${id} is queued again\n`;
    });
}
