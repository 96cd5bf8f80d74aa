import { expect } from '@jest/globals';
import {
  type ErrorCode,
  errorStatuses,
  expectError,
  expectHeadError,
  expectLimitHeaders,
} from '@adoption-store/api/testing/expectations';
import type { RawResponse } from '@adoption-store/api/testing/raw-http';

/** An error's code, a success's status, or the status of an error to HEAD. */
export type Outcome = ErrorCode | number;

export function outcomeOf({ status, body }: RawResponse): Outcome {
  return (/^\{"code":"(\w+)"/.exec(body)?.[1] as ErrorCode | undefined) ?? status;
}

/** Expects what the contract promises for every response, whatever the request was. */
export function expectContract(response: RawResponse): void {
  const { status, headers, body } = response;
  const outcome = outcomeOf(response);
  if (typeof outcome === 'string') expectError(response, errorStatuses[outcome], outcome);
  else if (status >= 400) expectHeadError(response, status);
  else expectLimitHeaders(response);
  expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  if (status === 405) expect(headers).toHaveProperty('allow');
  if (status === 401) expect(headers).toHaveProperty('www-authenticate');
  if (status === 204) expect(body).toBe('');
}
