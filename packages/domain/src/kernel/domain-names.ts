/**
 * Port: a domain name in lower-case ASCII, as UTS #46 maps it, so that spellings of one name become equal. Text that is no
 * name gives an empty text, and numbers may give an IP address.
 *
 * @param name its ASCII characters are letters, digits, hyphens, underscores and dots.
 */
export type DomainToAscii = (name: string) => string;
