/** What may be there at once: then nobody waits a turn for it. */
export type Awaitable<Value> = Value | Promise<Value>;

/** What `next` makes of the value: at once where that is there, else when it comes. */
export function andThen<Value, Result>(value: Awaitable<Value>, next: (value: Value) => Result): Awaitable<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
