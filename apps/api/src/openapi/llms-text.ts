import type { DefinedOperation } from '../http/operations/operation.js';
import { GUIDE, TITLE } from './description.js';
import { markdownLists } from './operations.js';

/**
 * The text of llms.txt, for language models: the guide and the operations, in Markdown.
 *
 * @param server its address, such as `https://api.example.com/v1` or `/v1`.
 */
export function llmsText(operations: readonly DefinedOperation[], server: string): string {
  const parts = [
    `# ${TITLE}`,
    `> ${GUIDE}`,
    '## Operations',
    `Their paths follow \`${server}\`. [openapi.json](openapi.json) has every parameter, body and response.`,
    ...markdownLists(operations),
  ];
  return `${parts.join('\n\n')}\n`;
}
