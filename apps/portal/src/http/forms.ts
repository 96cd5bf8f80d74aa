import { DomainError, type FieldProblem, InvalidInput, type Scope, SCOPES } from '@adoption-store/domain';
import type { Form, Problems, RefusedForm } from '../views.js';
import { pathHere } from './paths.js';

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
 * The messages for a refused form.
 *
 * @param fieldNames the form's field for each field name of the domain.
 * @throws the error itself if it isn't about the input.
 */
export function problemsOf(error: unknown, fieldNames: Readonly<Record<string, string>>): Problems {
  if (!(error instanceof DomainError) || (error.kind !== 'invalid' && error.kind !== 'conflict')) throw error;
  if (!(error instanceof InvalidInput)) {
    const [first = '', ...rest] = error.message.split(' ');
    return problemsIn([{ field: first, rule: rest.join(' ') }], fieldNames);
  }
  return problemsIn(error.problems, fieldNames);
}

function problemsIn(found: readonly FieldProblem[], fieldNames: Readonly<Record<string, string>>): Problems {
  const entries = found.map(({ field, rule }): [string, string] => {
    const name = Object.hasOwn(fieldNames, field) ? fieldNames[field] : undefined;
    return name === undefined ? ['form', sentence(`${field} ${rule}`)] : [name, sentence(rule)];
  });
  return Object.fromEntries(entries);
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

/** The fields that people fill in, with their labels. Passwords are never kept. */
const LABELS: Readonly<Record<string, string>> = {
  email: 'E-mail address',
  password: 'Password',
  current: 'Current password',
  next: 'New password',
  token: 'Token from the e-mail',
  name: 'Name',
  expiresIn: 'Expires in days (optional)',
  overlap: 'Hours that both keys work',
  categoryId: 'Category number',
  number: 'Number',
  status: 'Status',
};
const PASSWORDS: ReadonlySet<string> = new Set(['password', 'current', 'next']);
/** The state that a form was filled from. It is sent with the form, so that no change of others is undone unseen. */
const HIDDEN: ReadonlySet<string> = new Set(['version']);

/** A form whose token was refused, to be checked and sent again. */
export function refusedForm(action: string, body: unknown): RefusedForm {
  const sent = fields(body, ...Object.keys(LABELS), ...HIDDEN);
  const names = Object.keys(typeof body === 'object' && body !== null ? body : {});
  const own = names.filter((name) => Object.hasOwn(LABELS, name) || HIDDEN.has(name));
  return {
    action,
    scopes: checkedScopes(body),
    kept: keptIn(body),
    fields: own.map((name) => {
      const type = PASSWORDS.has(name) ? 'password' : HIDDEN.has(name) ? 'hidden' : 'text';
      return { name, label: LABELS[name] ?? name, type, value: type === 'password' ? '' : (sent[name] ?? '') };
    }),
  };
}

/** Kept values of a form are in hidden fields of the sign-in form, whose names begin with this. */
const KEPT = 'kept-';
/** The longest kept form, so that it fits into the sign-in form. */
const MOST_KEPT_BYTES = 12_000;

/** A form to be kept while its sender signs in. Undefined if nothing was filled in that is kept. */
export function keptForm(action: string, body: unknown): RefusedForm | undefined {
  const form = refusedForm(action, body);
  const texts = form.fields.map(({ name, value }): [string, string] => [name, value]);
  const bytes = new URLSearchParams([['action', action], ...texts]).toString().length;
  const isEmpty = form.scopes.length === 0 && form.fields.every(({ type, value }) => type === 'hidden' || value === '');
  return isEmpty || bytes > MOST_KEPT_BYTES ? undefined : form;
}

/** The hidden fields of the sign-in form for a kept form. */
export function keptFields({ action, fields: kept, scopes }: RefusedForm): readonly (readonly [string, string])[] {
  return [
    [`${KEPT}action`, action],
    ...kept.map(({ name, value }) => [KEPT + name, value] as const),
    ...scopes.map((scope) => [`${KEPT}scopes`, scope] as const),
  ];
}

/** The kept form that came with the sign-in form. */
export function keptIn(body: unknown): RefusedForm | undefined {
  const sent = Object.entries(typeof body === 'object' && body !== null ? body : {});
  const kept = sent.flatMap(([name, value]) => (name.startsWith(KEPT) ? [[name.slice(KEPT.length), value]] : []));
  const own: unknown = Object.fromEntries(kept);
  const action = pathHere(fields(own, 'action').action);
  return action === undefined ? undefined : keptForm(action, own);
}
