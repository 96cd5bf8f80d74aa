/**
 * Rejects if the answer takes longer than that many milliseconds. After a busy turn of the event loop, timers run before
 * sockets are read. setImmediate runs after them, so an answer that has already arrived counts.
 */
export async function answerWithin<Answer>(timeout: number, answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      reject(new Error(`no answer within ${timeout} ms`));
    };
    const timer = setTimeout(() => setImmediate(giveUp), timeout);
    answer.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

/**
 * Runs work that may take that many milliseconds. Then its signal is aborted. The timer ends with the work: that of
 * `AbortSignal.timeout()` would run on, and keep everything that was given the signal, such as a connection.
 */
export async function abortAfter<Result>(
  timeout: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
  }, timeout);
  try {
    return await work(late.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The error, or undefined if there was an answer. */
export async function failureOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    () => undefined,
    (error: unknown) => error,
  );
}
