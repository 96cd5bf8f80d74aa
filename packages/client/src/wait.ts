/** Resolves after that many milliseconds. Rejects with the signal's reason as soon as it is aborted. */
export function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      // The reason can be any value, and `fetch` rejects with it too.
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
 * The wait after the nth try if the API named none: a random time up to a bound that doubles each time, so that clients
 * that failed together don't retry together.
 */
export function jitter(tries: number): number {
  return Math.random() * Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** tries);
}

/** `Retry-After` in seconds. The API sends seconds; a proxy may send a date. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After');
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
