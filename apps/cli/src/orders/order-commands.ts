import { type AccountOrder, isoTime, type OrderEnd, type OrderId, orderJson } from '@adoption-store/domain';
import { type Command, eachOf, idOf, parse, parseList, type Program, UsageError } from '../command-line.js';
import { accountJson, inParts, listing } from '../output.js';

const USAGE = `Usage:
  npm run -s orders -- list [--placed] [--json]
      shows the orders of all accounts, the oldest first; with --placed only
      those that are neither completed, cancelled nor expired; with --json an
      object a line.
  npm run -s orders -- complete ID [ID…]
      completes orders: their animals are sold for good.
  npm run -s orders -- cancel ID [ID…]
      cancels orders: their animals are available again.
      Either way each order's account gets the event, as if it had done it.
`;

export const orderCommands: Program = {
  commands: {
    list,
    complete: (args) => end(args, 'completed'),
    cancel: (args) => end(args, 'cancelled'),
  },
  usage: USAGE,
};

function list(args: string[]): Command {
  const { isOn, isJson } = parseList(args, [], ['placed']);
  const status = isOn('placed') ? 'placed' : undefined;
  return async ({ listAllOrders }, { nameOf }) => {
    const orders = inParts<AccountOrder, OrderId>(
      (part) => listAllOrders.execute({ status, ...part }),
      ({ order }) => order.id,
    );
    return listing(isJson, orders, {
      heads: ['ID', 'ACCOUNT', 'ANIMAL', 'STATUS', 'PLACED', 'CHANGED'],
      rowOf: ({ account, order }) => [
        String(order.id),
        nameOf(account),
        String(order.animalId),
        order.status,
        isoTime(order.createdAt),
        isoTime(order.updatedAt),
      ],
      jsonOf: ({ account, order }) => ({ ...orderJson(order), account: accountJson(account) }),
    });
  };
}

function end(args: string[], outcome: OrderEnd['outcome']): Command {
  const ids = parse(args, [], ['ID…']).positionals;
  if (ids.length === 0) throw new UsageError('the ID of an order is required');
  for (const id of ids) idOf(id);
  return async ({ endOrder }) =>
    eachOf(ids, async (id) => {
      const { status } = await endOrder.execute({ id: idOf(id), by: 'operator', outcome });
      return `order ${id} is ${status}\n`;
    });
}
