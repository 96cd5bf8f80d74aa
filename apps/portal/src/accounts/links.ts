import { DomainError } from '@adoption-store/domain';
import type { Form } from '../http/forms.js';

export const TOKEN = 'Token from the e-mail';

export function isTaken(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'email_taken';
}

/** @param href the page with the form for another link. */
export function spent<Each extends Form>(form: Each, href: string): Each {
  const problems = { token: 'This link is unknown, too old or was used before.' };
  return form.withProblems(problems, { token: { href, text: 'Request another link' } });
}
