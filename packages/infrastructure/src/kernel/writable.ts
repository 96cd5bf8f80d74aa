/** The same fields without `readonly`. */
export type Writable<Fields> = { -readonly [Field in keyof Fields]: Fields[Field] };
