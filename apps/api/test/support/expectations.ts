import { expect } from '@jest/globals';
import { type ErrorCode, errorStatuses } from '../../src/http/answers/error-codes.js';
import type { RawResponse } from './raw-http.js';

export { type ErrorCode, errorStatuses };

const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';

/** Expects an error with exactly these properties and this media type. Returns its message. */
export function expectError(response: RawResponse | undefined, status: number, code: ErrorCode): string {
  expect(response && describe(response)).toEqual({ status, contentType: JSON_CONTENT_TYPE, code });
  const body = JSON.parse(response?.body ?? '') as { readonly message: unknown };
  expect(body).toStrictEqual({ code, message: expect.stringMatching(/\S/), status });
  expect(errorStatuses[code]).toBe(status);
  expect(response?.headers['x-request-id']).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expectLimitHeaders(response);
  return String(body.message);
}

/** The parts of a response that a failed comparison shows. */
function describe({ status, headers, body }: RawResponse) {
  const code = /"code":"(\w+)"/.exec(body)?.[1] ?? body.slice(0, 200);
  return { status, contentType: headers['content-type'], code };
}

/** Expects an error response to HEAD: the headers of an Error, and no body. */
export function expectHeadError(response: RawResponse, status: number): void {
  expect(response).toMatchObject({ status, body: '', headers: { 'content-type': JSON_CONTENT_TYPE } });
  expect(response.headers['x-request-id']).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expectLimitHeaders(response);
}

/** Expects the limit headers in both notations, without contradiction. */
export function expectLimitHeaders(response: RawResponse | undefined): void {
  const headers = response?.headers ?? {};
  const shown = ['limit', 'remaining', 'reset'].map((name) => headers[`x-ratelimit-${name}`]);
  expect(shown).toEqual(shown.map(() => expect.stringMatching(/^\d+$/)));
  const [limit, remaining] = shown;
  expect(headers['ratelimit-policy']).toMatch(new RegExp(`^"minute";q=\\d+;w=60(, "day";q=\\d+;w=86400)?$`));
  expect(headers['ratelimit-policy']).toContain(`;q=${limit};`);
  expect(headers['ratelimit']).toMatch(/^"minute";r=\d+;t=\d+(, "day";r=\d+;t=\d+)?$/);
  expect(headers['ratelimit']).toContain(`;r=${remaining};`);
}
