import { type Account, DomainError, isProven } from '@adoption-store/domain';
import type { Form } from '../http/forms.js';

export const TOKEN = 'Token from the e-mail';

export function isTaken(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'email_taken';
}

/**
 * @param href the page with the form for another link.
 * @param account whoever is signed in. If its address is proven, the link has most likely done that.
 */
export function spent<Each extends Form>(form: Each, href: string, account?: Account): Each {
  const why = 'This link is unknown, too old or was used before.';
  if (account !== undefined && isProven(account))
    return form.withProblems({ token: `${why} Your address ${account.email} is confirmed.` });
  const problems = { token: why };
  return form.withProblems(problems, { token: { href, text: 'Request another link' } });
}
