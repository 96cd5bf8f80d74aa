import type { AccountOrder, OrderEnd, OrderId } from '@adoption-store/domain';
import { type Command, eachOf, idOf, parse, type Program, UsageError } from '../command-line.js';
import { inParts, table } from '../output.js';

const USAGE = `Usage:
  npm run -s orders -- list [--placed]
      shows the orders of all accounts, the oldest first; with --placed only
      those that are neither completed, cancelled nor expired.
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
  const status = parse(args, [], [], ['placed']).isOn('placed') ? 'placed' : undefined;
  return async ({ listAllOrders }, { nameOf }) => {
    const orders = inParts<AccountOrder, OrderId>(
      (part) => listAllOrders.execute({ status, ...part }),
      ({ order }) => order.id,
    );
    return table(['ID', 'ACCOUNT', 'ANIMAL', 'STATUS', 'PLACED', 'CHANGED'], orders, ({ account, order }) => [
      String(order.id),
      nameOf(account),
      String(order.animalId),
      order.status,
      new Date(order.createdAt).toISOString(),
      new Date(order.updatedAt).toISOString(),
    ]);
  };
}

function end(args: string[], outcome: OrderEnd['outcome']): Command {
  const ids = parse(args, [], ['ID…']).positionals;
  if (ids.length === 0) throw new UsageError('the ID of an order is required');
  for (const id of ids) idOf(id);
  return async ({ endAnyOrder }) =>
    eachOf(ids, async (id) => {
      const { status } = await endAnyOrder.execute({ id: idOf(id), outcome });
      return `order ${id} is ${status}\n`;
    });
}
