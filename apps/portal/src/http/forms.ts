import { DomainError, isInt64, type Scope, SCOPES } from '@adoption-store/domain';
import type { Form, Problems, RefusedForm } from '../views.js';

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
 * The messages for a refused form.
 *
 * @param fieldNames the form's field for each field name of the domain.
 * @throws the error itself if it isn't about the input.
 */
export function problemsOf(error: unknown, fieldNames: Readonly<Record<string, string>>): Problems {
  if (!(error instanceof DomainError) || (error.kind !== 'invalid' && error.kind !== 'conflict')) throw error;
  const [first = '', ...rest] = error.message.split(' ');
  const field = Object.hasOwn(fieldNames, first) ? fieldNames[first] : undefined;
  return field === undefined ? { form: sentence(error.message) } : { [field]: sentence(rest.join(' ')) };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** A whole number that a person typed. Undefined for anything else. */
export function wholeNumber(text: string, least: number, most: number): number | undefined {
  const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

/** An id that a person typed, or that an address has. Undefined for anything else. */
export function int64From(text: string): bigint | undefined {
  const value = /^-?\d{1,19}$/.test(text.trim()) ? BigInt(text) : undefined;
  return isInt64(value) ? value : undefined;
}

/** The fields that people fill in, with their labels. Passwords are never kept. */
const LABELS: Readonly<Record<string, string>> = {
  email: 'E-mail address',
  password: 'Password',
  current: 'Present password',
  next: 'New password',
  token: 'Token from the e-mail',
  name: 'Name',
  expiresIn: 'Days until it expires',
  overlap: 'Hours of overlap',
  categoryId: 'Category number',
  number: 'Number',
  status: 'Status',
};
const PASSWORDS: ReadonlySet<string> = new Set(['password', 'current', 'next']);

/** A form whose token was refused, to be checked and sent again. */
export function refusedForm(action: string, body: unknown): RefusedForm {
  const sent = fields(body, ...Object.keys(LABELS));
  const names = Object.keys(typeof body === 'object' && body !== null ? body : {});
  const shown = names.filter((name) => Object.hasOwn(LABELS, name));
  return {
    action,
    scopes: checkedScopes(body),
    fields: shown.map((name) => {
      const isPassword = PASSWORDS.has(name);
      return { name, label: LABELS[name] ?? name, isPassword, value: isPassword ? '' : (sent[name] ?? '') };
    }),
  };
}
