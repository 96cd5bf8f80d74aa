declare const brand: unique symbol;

/** A `Base` with a name for the compiler, so that an AnimalId can't be passed as an AccountId. */
export type Branded<Base, Name extends string> = Base & { readonly [brand]: Name };
