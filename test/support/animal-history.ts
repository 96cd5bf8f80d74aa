/** An animal as the API shows it. */
export interface Pet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: string;
}

/** An animal, unless it is withdrawn, and the statuses of its orders by id. */
export interface State {
  readonly pet: Pet | undefined;
  readonly orders: ReadonlyMap<number, string>;
}

/** A request, or an expiry by the worker. `wanted` is the animal whose entity tag is sent in `If-Match`. */
export type Step =
  | { readonly kind: 'patch'; readonly change: Partial<Omit<Pet, 'id'>>; readonly wanted?: Pet | undefined }
  | { readonly kind: 'delete'; readonly wanted?: Pet | undefined }
  | { readonly kind: 'place' }
  | { readonly kind: 'complete' | 'cancel'; readonly orderId: number }
  | { readonly kind: 'expire' };

/** A step and its outcome: the status or the error's code. */
export interface Done {
  readonly step: Step;
  readonly outcome: string;
  /** The animal after a PATCH, the id of a placed order, the ids of expired ones. */
  readonly result?: Pet | number | readonly number[] | undefined;
}

/** Whether the steps in some order, one after another, have these outcomes and lead from one state to the other. */
export function explains(state: State, done: readonly Done[], after: State): boolean {
  if (done.length === 0) return textOf(state) === textOf(after);
  return done.some((next) => {
    const expected = expect(state, next);
    if (expected.outcome !== next.outcome || !isSame(expected.result, next.result)) return false;
    const others = done.filter((each) => each !== next);
    return explains(expected.after, others, after);
  });
}

interface Expected extends Omit<Done, 'step'> {
  readonly after: State;
}

/** The outcome and the state after the step, if it runs alone. Only the id of a new order is chosen by the service. */
function expect(state: State, { step, result }: Done): Expected {
  const refused = (outcome: string): Expected => ({ outcome, after: state });
  const { pet, orders } = state;
  switch (step.kind) {
    case 'patch': {
      const refusal = refusalOf(state, step.wanted);
      if (refusal !== undefined || pet === undefined) return refused(refusal ?? 'not_found');
      const changed = { ...pet, ...step.change };
      if (changed.status !== pet.status) {
        if (placedOf(state).length > 0) return refused('order_in_progress');
        if (changed.status === 'sold' || pet.status === 'sold') return refused('invalid_transition');
      }
      return { outcome: '200', result: changed, after: { ...state, pet: changed } };
    }
    case 'delete': {
      const refusal = refusalOf(state, step.wanted);
      if (refusal !== undefined) return refused(refusal);
      if (placedOf(state).length > 0) return refused('order_in_progress');
      return { outcome: '204', after: { ...state, pet: undefined } };
    }
    case 'place': {
      if (pet === undefined) return refused('not_found');
      if (pet.status !== 'available') return refused('pet_not_available');
      const id = Number(result);
      return { outcome: '201', result: id, after: withOrders(state, [id], 'placed', 'pending') };
    }
    case 'expire': {
      const ids = placedOf(state);
      return { outcome: '200', result: ids, after: withOrders(state, ids, 'expired', 'available') };
    }
    default: {
      if (orders.get(step.orderId) !== 'placed') return refused('order_final');
      const [status, petStatus] = step.kind === 'complete' ? ['completed', 'sold'] : ['cancelled', 'available'];
      return { outcome: '200', after: withOrders(state, [step.orderId], status, petStatus) };
    }
  }
}

function refusalOf({ pet }: State, wanted: Pet | undefined): string | undefined {
  if (pet === undefined) return 'not_found';
  return wanted === undefined || isSame(pet, wanted) ? undefined : 'precondition_failed';
}

function withOrders({ pet, orders }: State, ids: readonly number[], status = '', petStatus = ''): State {
  const changed = ids.length === 0 || pet === undefined ? pet : { ...pet, status: petStatus };
  return { pet: changed, orders: new Map([...orders, ...ids.map((id) => [id, status] as const)]) };
}

function placedOf({ orders }: State): readonly number[] {
  return [...orders].flatMap(([id, status]) => (status === 'placed' ? [id] : []));
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

export function textOf({ pet, orders }: State): string {
  return JSON.stringify([pet ?? null, [...orders].sort(([one], [other]) => one - other)]);
}
