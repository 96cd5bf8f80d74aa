import { EVENT_TYPES, type EventType } from '../events/event.js';
import { checkAll, invalid, ours, ourText } from '../kernel/errors.js';
import { hasAtMostCodePoints, isStorable } from '../kernel/text.js';
import type { WebhookFields, WebhookStatus } from './webhook.js';

export const MAX_URL_LENGTH = 2_048;
export const MAX_DESCRIPTION_LENGTH = 255;

export interface WebhookInput {
  readonly url: string;
  /** Default: all. */
  readonly types?: readonly string[] | undefined;
  readonly description?: string | undefined;
}

/** Null removes the value. */
export interface WebhookChangeInput {
  readonly url?: string | undefined;
  readonly types?: readonly string[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly status?: WebhookStatus | undefined;
}

/** @throws DomainError `invalid_parameter`, naming each field and its rule. */
export function webhookFields(input: WebhookInput): WebhookFields {
  const { url, description } = input;
  const checked = check(input);
  return { url, types: checked.types, description, status: 'enabled' };
}

/**
 * Validates a change, which must have at least one field.
 *
 * @throws DomainError `invalid_parameter`, naming each field and its rule.
 */
export function webhookChange(input: WebhookChangeInput): Partial<WebhookFields> {
  const { url, types, description, status } = input;
  if ([url, types, description, status].every((each) => each === undefined)) {
    throw invalid('the body', ours`must have at least one of url, types, description and status`);
  }
  const checked = check(input);
  return {
    ...(url !== undefined && { url }),
    ...(types !== undefined && { types: checked.types }),
    ...(description !== undefined && { description: description ?? undefined }),
    ...(status !== undefined && { status }),
  };
}

/**
 * Checks the length of a URL in the form that `WebhookSender.check` returned, and returns it.
 *
 * @throws DomainError `invalid_parameter`
 */
export function webhookUrl(written: string): string {
  requireLength('url', written, MAX_URL_LENGTH);
  return written;
}

function check({ url, types, description }: WebhookInput | WebhookChangeInput) {
  return checkAll({
    url: () => {
      // Its length is checked later (`webhookUrl`), because the sender normalises the URL.
      if (url !== undefined) requireStorable('url', url);
    },
    types: () => eventTypes(types ?? undefined),
    description: () => {
      if (typeof description !== 'string') return;
      requireLength('description', description, MAX_DESCRIPTION_LENGTH);
      requireStorable('description', description);
    },
  });
}

function eventTypes(names?: readonly string[]): readonly EventType[] | undefined {
  if (names === undefined) return undefined;
  const types = EVENT_TYPES.filter((type) => names.includes(type));
  if (types.length > 0 && types.length === names.length) return types;
  throw invalid('types', ours`must be some of ${ourText(EVENT_TYPES.join(', '))}, each at most once`);
}

function requireLength(field: string, text: string, most: number): void {
  if (!hasAtMostCodePoints(text, most)) throw invalid(field, ours`must be at most ${most} characters`);
}

function requireStorable(field: string, text: string): void {
  if (!isStorable(text)) throw invalid(field, ours`must not contain U+0000 or a lone surrogate`);
}
