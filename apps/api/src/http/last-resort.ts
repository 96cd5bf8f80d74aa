import type { FastifyReply } from 'fastify';
import { INTERNAL_ERROR, JSON_TYPE } from './error-codes.js';

/** What the hooks and the limits have set. Any other header may be why the response could not be sent. */
const KEPT = /^(?:connection|vary|x-request-id|access-control-.*|(?:x-)?ratelimit.*)$/;

/**
 * Answers 500 past Nest and Fastify. Used when a response could not be sent, because the next one would fail for the same
 * reason, and then Fastify would send a body of its own.
 *
 * @param failed the status of that response. After 204 and 304 Node sends no body any more.
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
