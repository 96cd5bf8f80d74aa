declare const brand: unique symbol;

/** A `Base` that can't be mixed up with another: an AnimalId is never taken for an AccountId. */
export type Branded<Base, Name extends string> = Base & { readonly [brand]: Name };
