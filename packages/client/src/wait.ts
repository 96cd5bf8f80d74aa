/** Resolves after so many milliseconds; rejects at once with the signal's reason when it is aborted. */
export function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      // An AbortSignal's reason is whatever was given to abort(); that is what fetch rejects with, too.
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

const FIRST_WAIT = 250;
const LONGEST_WAIT = 8_000;

/**
 * How long to wait after the nth try where the API didn't say: anything up to a bound that doubles each time, so that
 * clients who failed together don't come back together.
 */
export function jitter(tries: number): number {
  return Math.random() * Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** tries);
}

/** `Retry-After` in seconds: the API writes seconds, a proxy before it may write a date. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After');
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
