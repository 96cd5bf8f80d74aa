/**
 * Every error code of the API, with its kind. An adapter maps the kinds to its own answers, such as HTTP's statuses.
 */
export const domainErrorKinds = {
  invalid_parameter: 'invalid',
  idempotency_key_reused: 'invalid',
  idempotency_key_in_use: 'conflict',
  missing_api_key: 'unauthenticated',
  invalid_api_key: 'unauthenticated',
  expired_api_key: 'unauthenticated',
  revoked_api_key: 'unauthenticated',
  disabled_api_key: 'unauthenticated',
  insufficient_scope: 'forbidden',
  not_found: 'not_found',
  pet_not_available: 'conflict',
  order_final: 'conflict',
  order_in_progress: 'conflict',
  invalid_transition: 'conflict',
  precondition_failed: 'precondition',
  too_many_orders: 'conflict',
  too_many_messages: 'conflict',
  category_name_taken: 'conflict',
  category_in_use: 'conflict',
  too_many_webhooks: 'conflict',
  too_many_pings: 'conflict',
  too_many_secrets: 'conflict',
  webhook_disabled: 'conflict',
  cursor_expired: 'gone',
  service_unavailable: 'unavailable',
} as const;

/** Error codes of account holders and operators. No operation of the API returns them. */
const managementErrorKinds = {
  email_taken: 'conflict',
  too_many_keys: 'conflict',
  address_unproven: 'conflict',
  message_not_failed: 'conflict',
  signed_out: 'unauthenticated',
} as const;

const kinds = { ...domainErrorKinds, ...managementErrorKinds };

export type RequestErrorCode = keyof typeof domainErrorKinds;
export type DomainErrorCode = keyof typeof kinds;
export type DomainErrorKind = (typeof kinds)[DomainErrorCode];

/** A broken rule. The message is for the caller: it names the field and the rule, and never internals. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  /** The field that breaks the rule, if it is exactly one. */
  readonly field: string | undefined;

  constructor(
    readonly code: DomainErrorCode,
    message: string,
    options?: { readonly cause?: unknown; readonly field?: string | undefined },
  ) {
    super(message, options);
    this.field = options?.field;
  }

  get kind(): DomainErrorKind {
    return kinds[this.code];
  }
}

/** A rule that a field of an input breaks. */
export interface FieldProblem {
  readonly field: string;
  readonly rule: string;
}

/** The most faults that a message tells. */
export const MOST_TOLD = 5;

/** The first of several texts, and how many more there are. */
export function listed(texts: readonly string[], separator = '; ', most = MOST_TOLD): string {
  const more = texts.length - most;
  return texts.slice(0, most).join(separator) + (more > 0 ? ` and ${more} more` : '');
}

/** Refused input. The message names each field and its rule. */
export class InvalidInput extends DomainError {
  constructor(readonly problems: readonly FieldProblem[]) {
    const message = listed(problems.map(({ field, rule }) => `${field} ${rule}`));
    super('invalid_parameter', message, { field: problems.length === 1 ? problems[0]?.field : undefined });
  }
}

export function invalid(field: string, rule: string): InvalidInput {
  return new InvalidInput([{ field, rule }]);
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
  const results = Object.entries(checks).map(([name, check]) => {
    try {
      return [name, check()];
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      problems.push(...error.problems);
      return [name, undefined];
    }
  });
  if (problems.length > 0) throw new InvalidInput(problems);
  return Object.fromEntries(results) as Checked<Each>;
}
