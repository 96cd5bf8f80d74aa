import { ApiError } from './api-error.js';
import { backOff } from './retry.js';
import type { Sending, Transport } from './transport.js';

/** In milliseconds. */
const LONGEST_PAUSE = 30_000;

/** A transport for what isn't urgent: it sends a request until an answer comes, the API refuses it, or it is aborted. */
export function patient(transport: Transport): Pick<Transport, 'at' | 'send'> {
  return {
    at: (...target) => transport.at(...target),
    send: async (sending: Sending) => {
      for (let tries = 1; ; tries += 1)
        try {
          return await transport.send({ ...sending, tries });
        } catch (error) {
          if (!(error instanceof ApiError) || !isOutage(error)) throw error;
          await transport.pause(backOff(tries, error.retryAfter, LONGEST_PAUSE), sending.signal);
        }
    },
  };
}

/** Whether the API may answer the same request later, as after a restart of it. A proxy's page can have any status. */
function isOutage({ code, kind, status }: ApiError): boolean {
  if (kind === 'network' || kind === 'timeout' || kind === 'rate_limit') return true;
  return code === 'unexpected_response' || status === 408 || status >= 500;
}
