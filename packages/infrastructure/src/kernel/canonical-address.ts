import { domainToASCII } from 'node:url';
import { canonicalAddress } from '@adoption-store/domain';

/** The value of `accounts.canonical_email` for an address. */
export function canonicalOf(email: string): string {
  return canonicalAddress(email, domainToASCII);
}
