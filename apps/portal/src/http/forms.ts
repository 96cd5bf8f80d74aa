import { DomainError } from '@adoption-store/domain';
import type { Form, Problems } from '../views.js';

export const EMPTY_FORM: Form = { values: {}, problems: {} };

/** The texts of a form's fields; one that is missing is empty. */
export function fields<Name extends string>(body: unknown, ...names: readonly Name[]): Readonly<Record<Name, string>> {
  const sent = new Map(Object.entries(typeof body === 'object' && body !== null ? body : {}));
  const texts = names.map((name) => {
    const value: unknown = sent.get(name);
    return [name, typeof value === 'string' ? value : ''];
  });
  return Object.fromEntries(texts) as Record<Name, string>;
}

/**
 * What a broken rule tells whoever filled in the form.
 *
 * @param fieldNames the form's fields, each by the name it has in the domain.
 * @throws what isn't one.
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

/** A whole number as people write it into a form; undefined of anything else. */
export function wholeNumber(text: string, least: number, most: number): number | undefined {
  const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}
