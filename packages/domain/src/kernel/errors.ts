/** What an adapter maps to its own answers, such as HTTP's statuses. */
export type DomainErrorKind =
  'invalid' | 'unauthenticated' | 'forbidden' | 'not_found' | 'conflict' | 'gone' | 'precondition' | 'unavailable';

export interface ErrorCode {
  readonly code: string;
  readonly kind: DomainErrorKind;
}

/** The error codes of a context by name. `DomainError` takes one of them, so that no other can be thrown. */
export function errorCodes<Code extends string>(
  kinds: Readonly<Record<Code, DomainErrorKind>>,
): Readonly<Record<Code, ErrorCode>> {
  const codes = Object.entries<DomainErrorKind>(kinds).map(([code, kind]) => [code, { code, kind }]);
  return Object.fromEntries(codes) as Record<Code, ErrorCode>;
}

/** The codes that every context may throw. */
export const kernelErrors = errorCodes({
  invalid_parameter: 'invalid',
  not_found: 'not_found',
  precondition_failed: 'precondition',
  service_unavailable: 'unavailable',
});

/**
 * A text for the caller, and the part of it that may be kept with the record of the request. Write it with `ours`. A text
 * that is a plain string keeps nothing.
 */
export class Wording {
  constructor(
    readonly text: string,
    readonly kept: string,
  ) {}
}

/** What stands in a kept text for what the caller typed. */
export const TYPED = '…';

/**
 * Our own words, such as ours`no animal has the id ${id}`. An inserted number is kept. An inserted string counts as typed
 * by the caller, unless it is marked with `ourText`.
 */
export function ours(parts: TemplateStringsArray, ...values: readonly (string | number | bigint | Wording)[]): Wording {
  const inserted = (index: number): string | number | bigint | Wording => values[index] ?? '';
  const text = parts.map((part, index) => part + textOf(inserted(index))).join('');
  const kept = parts.map((part, index) => part + keptValue(inserted(index))).join('');
  return new Wording(text, kept);
}

/** A text in which nothing was typed by the caller. */
export function ourText(text: string): Wording {
  return new Wording(text, text);
}

function keptValue(value: string | number | bigint | Wording): string {
  if (value instanceof Wording) return value.kept;
  return typeof value === 'string' && value !== '' ? TYPED : String(value);
}

export function textOf(wording: string | number | bigint | Wording): string {
  return wording instanceof Wording ? wording.text : String(wording);
}

export function keptOf(wording: string | Wording): string | undefined {
  return wording instanceof Wording ? wording.kept : undefined;
}

/** A broken rule. The message is for the caller: it names the field and the rule, and never internals. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: string;
  readonly kind: DomainErrorKind;
  /** The part of the message that may be kept. */
  readonly kept: string | undefined;
  /** The field that breaks the rule, if it is exactly one. */
  readonly field: string | undefined;

  constructor(
    { code, kind }: ErrorCode,
    message: string | Wording,
    options?: { readonly cause?: unknown; readonly field?: string | undefined },
  ) {
    super(textOf(message), options);
    this.kept = keptOf(message);
    this.code = code;
    this.kind = kind;
    this.field = options?.field;
  }
}

/** A rule that a field of an input breaks. */
export interface FieldProblem {
  readonly field: string;
  readonly rule: string;
  /** The part of the rule that may be kept. */
  readonly kept?: string | undefined;
}

/** The most faults that a message tells. */
export const MOST_TOLD = 5;

/** The first of several texts, and how many more there are. */
export function listed(texts: readonly string[], separator = '; ', most = MOST_TOLD): string {
  const more = texts.length - most;
  return texts.slice(0, most).join(separator) + (more > 0 ? ` and ${more} more` : '');
}

/** The first of several rules that were broken, and how many more there are. */
export function listedProblems(problems: readonly FieldProblem[]): Wording {
  const texts = problems.map(({ field, rule }) => `${field} ${rule}`);
  const kept = problems.map((problem) => `${problem.field} ${problem.kept ?? TYPED}`);
  return new Wording(listed(texts), listed(kept));
}

/** Refused input. The message names each field and its rule. */
export class InvalidInput extends DomainError {
  constructor(readonly problems: readonly FieldProblem[]) {
    const field = problems.length === 1 ? problems[0]?.field : undefined;
    super(kernelErrors.invalid_parameter, listedProblems(problems), { field });
  }
}

export function invalid(field: string, rule: string | Wording): InvalidInput {
  return new InvalidInput([{ field, rule: textOf(rule), kept: keptOf(rule) }]);
}

type Checks = Readonly<Record<string, () => unknown>>;
type Checked<Each extends Checks> = { readonly [Name in keyof Each]: ReturnType<Each[Name]> };

/**
 * Runs all checks, so that a person who fills in a form learns of all problems at once. Returns their results by name.
 *
 * @throws InvalidInput with the problems of all checks.
 */
export function checkAll<Each extends Checks>(checks: Each): Checked<Each> {
  const problems: FieldProblem[] = [];
  const results: Record<string, unknown> = {};
  for (const [name, check] of Object.entries(checks)) {
    try {
      results[name] = check();
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new InvalidInput(problems);
  return results as Checked<Each>;
}
