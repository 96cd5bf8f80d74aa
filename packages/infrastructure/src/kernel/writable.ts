/** The same fields, for what is changed in place. */
export type Writable<Fields> = { -readonly [Field in keyof Fields]: Fields[Field] };
