import type { ApiKey, ApiKeyId } from '../accounts/keys/api-key.js';
import type { Instant } from '../kernel/clock.js';
import { TYPED } from '../kernel/errors.js';

/** The most failed requests that are kept of an account: the latest. Equal ones are one, with their number. */
export const MOST_FAILED_REQUESTS = 100;
/** The most of them with the same code, so that a flood of one code never displaces the others. */
export const MOST_OF_A_CODE = 20;
/** The most request ids that are kept of equal failed requests: the latest. */
export const MOST_REQUEST_IDS = 10;
/** The most characters of a reason. */
export const MOST_OF_A_REASON = 300;
/** The most characters of an unknown path in a reason. */
const MOST_OF_A_PATH = 100;

/**
 * A request that was answered with an error of the client. Of what the client sent, it contains the request's id, the ids
 * of resources, and the path if no operation has it (`keptPath`).
 */
export interface FailedRequest {
  /** The name of the operation. */
  readonly operation: string;
  readonly status: number;
  /** The `code` of the response. */
  readonly code: string;
  /** The part of the response's message that may be kept. Undefined if there is none. */
  readonly reason?: string | undefined;
  /** The id of the request, as the response shows it. */
  readonly requestId: string;
}

/** Equal failed requests of a key. */
export interface FailedRequests extends Omit<FailedRequest, 'requestId'> {
  readonly keyId: ApiKeyId;
  readonly count: number;
  /** The time of the last one. */
  readonly at: Instant;
  /** The last ones, the latest first. */
  readonly requestIds: readonly string[];
}

export interface ShownFailedRequests extends FailedRequests {
  readonly key: Pick<ApiKey, 'name' | 'ending'>;
}

/** Equal failed requests have the same. */
export function failureOf({ keyId, operation, code, reason }: Omit<FailedRequests, 'status' | 'count'>): string {
  return JSON.stringify([String(keyId), operation, code, reason]);
}

/** Adds up equal failed requests. */
export function joined(one: FailedRequests, other: FailedRequests): FailedRequests {
  const [later, earlier] = other.at >= one.at ? [other, one] : [one, other];
  return {
    keyId: later.keyId,
    operation: later.operation,
    status: later.status,
    code: later.code,
    reason: later.reason,
    at: later.at,
    count: one.count + other.count,
    requestIds: [...later.requestIds, ...earlier.requestIds].slice(0, MOST_REQUEST_IDS),
  };
}

/** The failed requests of an account that are kept, the latest first. */
export function keptFailedRequests<Each extends Pick<FailedRequests, 'code' | 'at'>>(
  all: readonly Each[],
): readonly Each[] {
  const ofCode = new Map<string, number>();
  const latest = all.toSorted((one, other) => other.at - one.at);
  const kept = latest.filter(({ code }) => {
    const count = (ofCode.get(code) ?? 0) + 1;
    ofCode.set(code, count);
    return count <= MOST_OF_A_CODE;
  });
  return kept.slice(0, MOST_FAILED_REQUESTS);
}

/** The reason that is kept of an error. */
export function keptReason(kept: string | undefined): string | undefined {
  return kept === undefined ? undefined : cut(kept, MOST_OF_A_REASON);
}

const LONG_WORD = /[\w+/=~.-]{20,}/;
const IP_ADDRESS = /\d+\.\d+\.\d+\.\d+|:.*:/;

/** The part of an unknown path that may be kept. A step that looks like a key or an address is `…`. */
export function keptPath(path: string): string {
  const steps = path.split('/').map((step) => (isTelling(decoded(step)) ? TYPED : step));
  return cut(steps.join('/'), MOST_OF_A_PATH);
}

/** Whether a step of a path looks like an e-mail address, an IP address, or a key: long, and not a lower-case word. */
function isTelling(step: string): boolean {
  if (step.includes('@') || step.includes('%') || IP_ADDRESS.test(step)) return true;
  return /^[a-z]+_(live|test|staging)_|^whsec_|^sk_/i.test(step) || (LONG_WORD.test(step) && /[0-9A-Z]/.test(step));
}

/** A step that can't be decoded keeps its `%`. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
