import type { FastifyReply } from 'fastify';
import { INTERNAL_ERROR, JSON_TYPE } from '../answers/error-codes.js';

/** Headers that the hooks and the limits have set. Any other header may be the reason why the response failed. */
const KEPT = /^(?:connection|vary|x-request-id|access-control-.*|(?:x-)?ratelimit.*)$/;

/**
 * Answers 500 directly, without Nest and Fastify, after a response could not be sent. Their next response would fail
 * for the same reason, and then Fastify would send a body of its own.
 *
 * @param failed the status of the failed response. After 204 or 304 Node sends no body any more.
 */
export function answerAtLast(reply: FastifyReply, failed: number): void {
  const body = failed === 204 || failed === 304 ? '' : JSON.stringify(INTERNAL_ERROR);
  const kept = Object.entries(reply.getHeaders()).filter(([name]) => KEPT.test(name));
  reply.hijack();
  reply.raw
    .writeHead(INTERNAL_ERROR.status, {
      'content-type': JSON_TYPE,
      ...Object.fromEntries(kept),
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
}
