import { ApiError, type FailedRequest } from './api-error.js';
import { TimedOut } from './clock.js';

interface Request extends FailedRequest {
  readonly url: URL;
}

/** The error of a request that was ended: by its caller, or because it took too long. */
export function endOf(request: Request, reason: unknown): ApiError {
  const failure =
    reason instanceof TimedOut
      ? { code: 'timeout', message: `not finished after ${reason.milliseconds} ms` }
      : { code: 'aborted', message: 'aborted by the caller', cause: reason };
  return new ApiError({ ...request, ...failure, status: 0 });
}

/** `fetch` rejects with a TypeError for a lost connection and for a wrong call alike. Only the latter has such a message. */
const WRONG_CALL =
  /Illegal invocation|does not implement interface|Can only call|is not (?:a function|a constructor|an object|defined|implemented)|(?:Cannot read|can't access) propert/;

/**
 * The error of a lost connection. Its message has the environment's own words, but never the key.
 *
 * @throws `error` itself if it isn't the connection's.
 */
export function lossOf(request: Request, error: unknown, key: string): ApiError {
  const { message = '', cause } = (error ?? {}) as Partial<Error>;
  if (WRONG_CALL.test(message)) throw error;
  const { hostname, port, protocol } = request.url;
  const place = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  // Node.js has the reason in the cause. Browsers don't say it.
  const { code, message: reason = message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: string };
  const loss =
    code === 'ECONNREFUSED'
      ? `${place} refused the connection`
      : `the connection to ${place} failed before the end${reason && `: ${reason}`}`;
  const shown = loss.replaceAll(key, '…');
  return new ApiError({ ...request, code: 'network_error', message: shown, status: 0, cause: error });
}
