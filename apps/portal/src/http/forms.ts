import { isUtf8 } from 'node:buffer';
import { parse } from 'node:querystring';
import { DomainError, InvalidInput } from '@adoption-store/domain';
import { isDecodable } from '@adoption-store/web/edge';
import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';

/** The domain's message, for use cases that don't refuse a wrong address. */
export const NO_ADDRESS = 'Must be an e-mail address, such as dev@example.com.';

/** The messages about a form by field, and `form` for a problem of the whole form. */
export type Problems = Readonly<Record<string, string>>;

export type Links = Readonly<Record<string, { readonly href: string; readonly text: string }>>;

/** A form to fill in. It is shown again with its values, without passwords, if it has problems. */
export class Form<Name extends string = string> {
  /** What was sent, or what a new form begins with. A missing field is empty. */
  readonly values: Readonly<Record<Name, string>>;
  readonly token: string;
  problems: Problems = {};
  links: Links = {};

  /**
   * @param labels by field. Empty for a hidden field.
   * @param prefix of the fields' ids, because a page may have several forms.
   */
  constructor(
    readonly labels: Readonly<Record<Name, string>>,
    readonly prefix: string,
    body: unknown,
  ) {
    this.values = fields(body, ...(Object.keys(labels) as Name[]));
    this.token = formToken(body);
  }

  /** Returns the form, to show it again. */
  withProblems(problems: Problems, links: Links = {}): this {
    this.problems = problems;
    this.links = links;
    return this;
  }

  /**
   * Returns the form with the error's messages. A problem of a field that it doesn't have is one of the whole form.
   *
   * @throws the error itself if it isn't about the input.
   */
  refused(error: unknown): this {
    if (!(error instanceof DomainError) || (error.kind !== 'invalid' && error.kind !== 'conflict')) throw error;
    if (!(error instanceof InvalidInput))
      return this.withProblems({ [error.field ?? 'form']: sentence(error.message) });
    const messages = error.problems.map(({ field, rule }) =>
      Object.hasOwn(this.values, field) ? [field, sentence(rule)] : ['form', sentence(`${field} ${rule}`)],
    );
    return this.withProblems(Object.fromEntries(messages) as Problems);
  }
}

export function formOf<Name extends string>(labels: Readonly<Record<Name, string>>, prefix = '') {
  return class extends Form<Name> {
    constructor(body?: unknown) {
      super(labels, prefix, body);
    }
  };
}

@Injectable()
export class FormPipe implements PipeTransform {
  transform(body: unknown, { metatype }: ArgumentMetadata): unknown {
    return metatype?.prototype instanceof Form ? new metatype(body) : body;
  }
}

/** What a form has sent. Undefined if it is not UTF-8, which browsers always send from a page in UTF-8. */
export function formIn(bytes: Buffer): unknown {
  const text = bytes.toString();
  return isUtf8(bytes) && isDecodable(text) ? parse(text, '&', '=', { maxKeys: 0 }) : undefined;
}

/** The values of these fields. A missing field is empty. */
export function fields<Name extends string>(body: unknown, ...names: readonly Name[]): Readonly<Record<Name, string>> {
  const sent = new Map(Object.entries(typeof body === 'object' && body !== null ? body : {}));
  const texts = names.map((name) => {
    const value: unknown = sent.get(name);
    return [name, typeof value === 'string' ? value : ''];
  });
  return Object.fromEntries(texts) as Record<Name, string>;
}

/** The choices whose boxes are checked, in the order of `choices`. */
export function checkedIn<Choice extends string>(
  body: unknown,
  name: string,
  choices: readonly Choice[],
): readonly Choice[] {
  // A single box is sent as a text, several as a list.
  const sent: readonly unknown[] = [new Map(Object.entries(body ?? {})).get(name)].flat();
  return choices.filter((choice) => sent.includes(choice));
}

export function formToken(body: unknown): string {
  return fields(body, '_csrf')._csrf;
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
