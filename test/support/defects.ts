/**
 * The lines of a service's log that report a defect. A lost dependency is no defect: on a busy machine its answer may be
 * late.
 */
export function defectsIn(log: string): readonly string[] {
  return log.split('\n').filter((line) => /"level":[56]0/.test(line) && !line.includes('"dependency"'));
}
