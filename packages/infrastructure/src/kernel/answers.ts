/**
 * Rejects if the answer takes longer than `timeout` milliseconds. After a long iteration of the event loop, Node runs
 * the timers before it reads the sockets. So the timer waits for setImmediate: an answer that has already arrived
 * counts.
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
 * Runs work and aborts its signal after that many milliseconds. The timer ends with the work. `AbortSignal.timeout()`
 * would keep its timer, and with it everything that has the signal, such as a connection.
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
