/**
 * The lines of a service's log that report an error of its own. The loss of a dependency is none: a busy machine may be
 * late to answer its probe.
 */
export function defectsIn(log: string): readonly string[] {
  return log.split('\n').filter((line) => /"level":[56]0/.test(line) && !line.includes('"dependency"'));
}
