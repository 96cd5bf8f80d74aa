/** The reasons in a service's log for which it lost Redis, except late answers: a busy CPU is enough for those. */
export function redisLossesIn(log: string): readonly string[] {
  const reasons = [...log.matchAll(/"reason":"([^"]*)","msg":"Redis is lost"/g)].map(([, reason = '']) => reason);
  return reasons.filter((reason) => reason !== 'no answer within 40 ms');
}
