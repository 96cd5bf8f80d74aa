import type { DefinedOperation } from '../http/operation.js';
import { longDate } from './operations.js';

/** The rows of the operations in the README's table. */
export function readmeRows(operations: readonly DefinedOperation[]): readonly string[] {
  return operations.map(({ route, stability, notice, summary }) => {
    if (notice === undefined) return `| \`${route}\`${stability === undefined ? '' : ` (${stability})`} | ${summary} |`;
    const { sunset, replacement } = notice.deprecation;
    return `| \`${route}\` (deprecated) | ${summary}, until ${longDate(sunset)}; use \`${replacement}\` |`;
  });
}
