/** Nest's token for the domain's clock, which is an interface and can't be a token itself. */
export const CLOCK = 'Clock';
