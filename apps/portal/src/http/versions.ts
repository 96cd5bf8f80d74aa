import { hash } from 'node:crypto';
import { type Condition, PreconditionFailed } from '@adoption-store/domain';
import { Form } from './forms.js';

/** Identifies what a page shows of something, as a field of its form. Empty for nothing. */
export type VersionOf<Shown> = (shown: Shown | undefined) => string;

export function fingerprint(...values: readonly unknown[]): string {
  return hash('sha256', values.map(String).join('\0'));
}

/** Refuses a form whose page showed another version. */
export function unchangedSince<Shown>(version: string, versionOf: VersionOf<Shown>): Condition<Shown> {
  return (stored) => {
    if (versionOf(stored) !== version) throw new PreconditionFailed('the version of the form', versionOf(stored));
  };
}

export function isChanged(error: unknown): boolean {
  return error instanceof PreconditionFailed;
}

/**
 * The form of a refused change, to show it again. If somebody else was faster, it says so, and has the version of what is
 * stored now: a person who has read that can send it again.
 *
 * @param now the version of what is stored now, and the words for it.
 * @throws the error itself if it isn't about the input.
 */
export function refusedChange<Name extends string>(
  form: Form<Name>,
  error: unknown,
  now: { readonly version: string; readonly problem: string },
): Form<Name> {
  if (!isChanged(error)) return form.refused(error);
  const values = { ...form.values, version: now.version };
  return new Form(form.labels, form.prefix, values).withProblems({ form: now.problem });
}
