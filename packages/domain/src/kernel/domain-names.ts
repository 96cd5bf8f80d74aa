/**
 * Port: the lower-case ASCII form of a domain name, as in UTS #46, so that different spellings of one name become
 * equal. A text that isn't a domain name gives an empty text. A number may give an IP address.
 *
 * @param name must have no other ASCII characters than letters, digits, hyphens, underscores and dots.
 */
export type DomainToAscii = (name: string) => string;
