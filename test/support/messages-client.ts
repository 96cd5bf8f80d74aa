import { expect } from '@jest/globals';
import type { TestApi } from './api.js';
import { bearer } from './pets-client.js';
import { type RawResponse, request } from './raw-http.js';

export interface Message {
  readonly id: string;
  readonly message: string;
  readonly status: string;
  readonly createdAt: string;
}

export const MESSAGES = '/v1/messages';

/** POST of a body, byte for byte, as `application/json`. */
export function postMessage(
  api: TestApi,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = { 'Content-Type': 'application/json' },
): Promise<RawResponse> {
  return request(api, MESSAGES, { method: 'POST', headers: { ...bearer(api.key), ...headers }, body });
}

/** Sends the text. Default key: the suite's. */
export function writeMessage(api: TestApi, message: string, key: string = api.key): Promise<RawResponse> {
  return postMessage(api, JSON.stringify({ message }), { 'Content-Type': 'application/json', ...bearer(key) });
}

export function messageOf(response: RawResponse, status = 200): Message {
  expect(response).toMatchObject({ status });
  return JSON.parse(response.body) as Message;
}
