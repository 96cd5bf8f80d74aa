import { DomainError, InvalidInput, type Scope, SCOPES } from '@adoption-store/domain';
import type { Form, Problems } from './views.js';

export const NO_ADDRESS = 'Must be an e-mail address, such as dev@example.com.';

export const EMPTY_FORM: Form = { values: {}, problems: {} };

/** The values of a form's fields. A missing field is empty. */
export function fields<Name extends string>(body: unknown, ...names: readonly Name[]): Readonly<Record<Name, string>> {
  const sent = new Map(Object.entries(typeof body === 'object' && body !== null ? body : {}));
  const texts = names.map((name) => {
    const value: unknown = sent.get(name);
    return [name, typeof value === 'string' ? value : ''];
  });
  return Object.fromEntries(texts) as Record<Name, string>;
}

/** The scopes whose boxes were checked, in the domain's order. */
export function checkedScopes(body: unknown): readonly Scope[] {
  const sent: unknown = typeof body === 'object' && body !== null && 'scopes' in body ? body.scopes : [];
  // A single box is sent as a text, several as a list.
  const names: readonly unknown[] = Array.isArray(sent) ? sent : [sent];
  return SCOPES.filter((scope) => names.includes(scope));
}

/**
 * The messages for a refused form with fields of these names. A problem of another field is one of the whole form.
 *
 * @throws the error itself if it isn't about the input.
 */
export function problemsOf(error: unknown, ...names: readonly string[]): Problems {
  if (!(error instanceof DomainError) || (error.kind !== 'invalid' && error.kind !== 'conflict')) throw error;
  const found = error instanceof InvalidInput ? error.problems : [{ field: error.field ?? 'form', rule: error.message }];
  const messages = found.map(({ field, rule }) =>
    field === 'form' || names.includes(field) ? [field, sentence(rule)] : ['form', sentence(`${field} ${rule}`)],
  );
  return Object.fromEntries(messages) as Problems;
}

/** Such as “Must be …”, or “Too common.” for a rule that says what the value is. */
function sentence(rule: string): string {
  const text = rule.replace(/^is /, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** A whole number that a person typed. Undefined for anything else. */
export function wholeNumber(text: string, least: number, most: number): number | undefined {
  const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}
