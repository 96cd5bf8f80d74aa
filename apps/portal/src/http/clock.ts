/** Nest's token for the domain's clock, which is no class. */
export const CLOCK = 'Clock';
