import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { ParserError } from './parser-errors.js';
import { routableUrl } from './request-target.js';
import type { SocketFaults } from './socket-faults.js';

/** Fastify's options that every app has. */
export function serverOptions(refusals: SocketFaults, trustProxy: readonly string[] | undefined) {
  return {
    rewriteUrl: routableUrl,
    // Each route validates the parameters of its path itself, and the length of the URL is limited.
    routerOptions: { maxParamLength: 16_384 },
    trustProxy: trustProxy === undefined ? false : [...trustProxy],
    return503OnClosing: false,
    serverFactory: (handle: RequestListener) => refusals.createServer(handle),
    clientErrorHandler: (error: ParserError, socket: Socket) => {
      refusals.onClientError(error, socket);
    },
  };
}
