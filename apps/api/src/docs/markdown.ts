type Kind = 'heading' | 'table' | 'list' | 'text' | 'blank';

/**
 * HTML of the description's own Markdown: headings with anchors, tables, lists and paragraphs, with code and links.
 *
 * @param prefix of the headings' ids.
 */
export function htmlOf(markdown: string, prefix: string): string {
  const blocks: { readonly kind: Kind; readonly lines: string[] }[] = [];
  for (const line of markdown.split('\n')) {
    const kind = kindOf(line);
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else blocks.push({ kind, lines: [line] });
  }
  return blocks.map(({ kind, lines }) => blockOf(kind, lines, prefix)).join('\n');
}

/** HTML of a sentence. */
export function inlineHtmlOf(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\[([^\]]+)\]\(([^)"]+)\)/g, '<a href="$2">$1</a>');
}

function kindOf(line: string): Kind {
  if (line === '') return 'blank';
  if (line.startsWith('#')) return 'heading';
  if (line.startsWith('|')) return 'table';
  return /^(?:- | {2})/.test(line) ? 'list' : 'text';
}

function blockOf(kind: Kind, lines: readonly string[], prefix: string): string {
  switch (kind) {
    case 'blank':
      return '';
    case 'heading':
      return lines.map((line) => headingOf(line, prefix)).join('\n');
    case 'table':
      return tableOf(lines);
    case 'list': {
      const items = lines.join('\n').split(/^- /m).slice(1);
      return `<ul>${items.map((item) => `<li>${inlineHtmlOf(item)}</li>`).join('\n')}</ul>`;
    }
    case 'text':
      return `<p>${inlineHtmlOf(lines.join('\n'))}</p>`;
  }
}

function headingOf(line: string, prefix: string): string {
  const [marks = '', ...words] = line.split(' ');
  const id = `${prefix}-${words.join('-').toLowerCase()}`;
  return `<h${marks.length} id="${id}"><a href="#${id}">${inlineHtmlOf(words.join(' '))}</a></h${marks.length}>`;
}

function tableOf([head = '', , ...rows]: readonly string[]): string {
  const cells = (row: string, name: 'th' | 'td') =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => `<${name}>${inlineHtmlOf(cell.trim())}</${name}>`)
      .join('');
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
  return `<table><thead><tr>${cells(head, 'th')}</tr></thead><tbody>${body}</tbody></table>`;
}
