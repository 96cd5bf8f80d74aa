import { type QuickStart, readQuickStarts, readReceivers, SIGN } from '@adoption-store/web';
import type { DefinedOperation } from '../http/operations/operation.js';
import { GUIDE, SERVERS } from '../openapi/description.js';
import { errorList } from '../openapi/errors.js';
import { markdownLists } from '../openapi/operations.js';
import { htmlOf, inlineHtmlOf } from './markdown.js';

export interface Reference {
  readonly operations: readonly DefinedOperation[];
  /** The API's address, such as `https://api.example.com/v1`. Undefined if it is not known: the page then finds it. */
  readonly server: string | undefined;
  /** The portal's address, where people get keys. Undefined if it is not known. */
  readonly portalUrl: string | undefined;
}

const NAVIGATION = `<nav class="side" aria-label="This page">
        <details id="menu">
          <summary>Search this page</summary>
          <label for="search">Search</label>
          <input id="search" type="search" placeholder="429, cursor, scope" autocomplete="off" spellcheck="false" />
          <output id="found" class="hint" for="search"></output>
          <ul id="starts">
            <li><a href="#guide">Guide</a></li>
            <li><a href="#errors">Errors</a></li>
          </ul>
          <ul id="groups"></ul>
        </details>
      </nav>`;

const RECEIVING = `## Receive webhooks
A request to a receiver has the headers \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\`. These programs check the signature,
do everything once, though an event may come twice, and keep the newest of what came out of order. The bodies of the
[events](#/webhooks/receivePetAdded) are at the end of this page.`;

const KEY_FORM = `<form id="key-form">
          <label for="key">API key, to try the operations</label>
          <div class="field">
            <input id="key" name="key" type="password" autocomplete="off" spellcheck="false" aria-describedby="key-hint" />
            <button class="button">Use key</button>
          </div>
          <p class="hint" id="key-hint">Only this page has it, and forgets it when it is reloaded.</p>
          <output id="key-state" for="key"></output>
        </form>`;

/** The page at `/docs`. All that people read is in the HTML; only trying an operation and the search need scripts. */
export function referencePage({ operations, server, portalUrl }: Reference): string {
  const [lead = '', guide = ''] = GUIDE.split(/\n\n([^]*)/);
  const servers = SERVERS.map(({ url, description }) => `- ${description}: \`${url}\``);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>API reference – Adoption Store API</title>
    <link rel="icon" href="favicon.ico" />
    <link rel="stylesheet" href="docs/base.css" />
    <link rel="stylesheet" href="docs/page.css" />
    <script src="docs/swagger-ui-bundle.js" defer></script>
    <script src="docs/page.js" type="module"></script>
  </head>
  <body>
    <a class="skip" href="#main">Skip to the content</a>
    ${header(portalUrl)}
    <div class="page">
      ${NAVIGATION}
      <main id="main" tabindex="-1">
        <h1>API reference</h1>
        <p class="lead">${lead} JSON over HTTP, with an API key.</p>
        ${firstCall(server, portalUrl)}
        ${KEY_FORM}
        ${quickStart(server)}
        <details id="guide">
          <summary>Guide: keys, numbers, pages, limits, webhooks</summary>
          ${htmlOf([guide, `## Servers\n${servers.join('\n')}`, RECEIVING].join('\n\n'), 'guide')}
          ${readReceivers()
            .map((each) => programOf(each, 'receiver'))
            .join('\n          ')}
        </details>
        <details id="errors">
          <summary>Errors: each code and what to do</summary>
          <dl>${errorList.map(errorEntry).join('\n')}</dl>
        </details>
        <noscript>
          <h2>Operations</h2>
          <p>With JavaScript you can search this page and try them. <a href="openapi.json">The description</a> has every parameter and response.</p>
          ${htmlOf(markdownLists(operations).join('\n\n'), 'operations')}
        </noscript>
        <link rel="stylesheet" href="docs/operations.css" />
        <div id="docs" class="swagger-ui"></div>
      </main>
    </div>
    <p id="status" class="hidden" role="status"></p>
  </body>
</html>
`;
}

/** The header of the portal, with the links that everybody may follow. */
function header(portalUrl: string | undefined): string {
  const link = (path: string, text: string, attributes = '') =>
    portalUrl === undefined ? '' : `<a href="${addressOf(portalUrl, path)}"${attributes}>${text}</a>`;
  const item = (html: string) => (html === '' ? '' : `<li>${html}</li>`);
  const groups = `<nav class="groups" aria-label="Main">
          <ul>
            ${item(link('/keys', 'Developers'))}
            ${item(link('/catalogue', 'Store'))}
            ${item(link('/quickstart', 'Docs', ' aria-current="true"'))}
          </ul>
        </nav>
        ${link('/account', 'Account', ' class="who"')}`;
  return `<header class="top">
      <div class="bar">
        <a class="brand" href="${portalUrl === undefined ? 'docs' : addressOf(portalUrl, '/')}">
          ${SIGN}
          <span class="name">Adoption Store <small>API</small></span>
        </a>
        ${portalUrl === undefined ? '' : groups}
      </div>
      <div class="bar">
        <nav class="pages" aria-label="Docs">
          <ul>
            ${item(link('/quickstart', 'Quickstart'))}
            <li><a href="docs" aria-current="page">API reference</a></li>
            <li><a href="openapi.json">OpenAPI 3.1</a></li>
          </ul>
        </nav>
      </div>
    </header>`;
}

function firstCall(server: string | undefined, portalUrl: string | undefined): string {
  const source =
    portalUrl === undefined
      ? 'The operator of this service gives out keys.'
      : `<a href="${addressOf(portalUrl, '/keys')}">Get a key</a> in the portal.`;
  const command = `curl -i -H 'Authorization: Bearer YOUR_API_KEY' '${place(server)}/pets?limit=2'`;
  return `<p>Base URL: <code>${place(server)}</code></p>
        <p>A first call, which lists two animals. ${source}</p>
        <div class="first">${codeBlock('first call', command)}</div>`;
}

/** The API's address. A page that doesn't know it writes it when it is loaded. */
function place(server: string | undefined): string {
  return server ?? '<span class="address">https://HOST_OF_THIS_PAGE/v1</span>';
}

function errorEntry({ status, description, codes }: (typeof errorList)[number]): string {
  const sentences = codes.map(
    ({ code, meaning }) =>
      `<dt id="error-${code}"><a href="#error-${code}"><code>${code}</code></a></dt><dd>${inlineHtmlOf(meaning)}</dd>`,
  );
  return `<dt>${status}</dt><dd><p class="hint">${inlineHtmlOf(description)}</p><dl>${sentences.join('\n')}</dl></dd>`;
}

function quickStart(server: string | undefined): string {
  return `<details id="quick-start">
          <summary>Quick start in curl, TypeScript and Python</summary>
          <p>Each lists animals, adds one, and finds it by its id. All read two variables:</p>
          ${codeBlock('variables', `export API_URL='${place(server)}'\nexport API_KEY='aas_…'`)}
          ${readQuickStarts()
            .map((each) => programOf(each, 'program'))
            .join('\n          ')}
        </details>`;
}

/** URL encodes what HTML would read as markup. */
function addressOf(portalUrl: string, path: string): string {
  return new URL(portalUrl + path).href;
}

function programOf({ language, needs, file, command, text }: QuickStart, kind: 'program' | 'receiver'): string {
  const code = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const how =
    command === undefined
      ? `Paste the lines into a shell, one after the other. They need ${needs}.`
      : `Save it as <code>${file}</code> and run <code>${command}</code>. It needs ${needs}.`;
  const level = kind === 'receiver' ? 'h3' : 'h2';
  return `<${level}>${language}</${level}><p>${how}</p>${codeBlock(`${language} ${kind}`, code)}`;
}

/** @param html the code, escaped */
function codeBlock(name: string, html: string): string {
  return (
    `<div class="code"><pre tabindex="0" role="region" aria-label="The ${name}"><code>${html}</code></pre>` +
    `<button type="button" class="copy" aria-label="Copy the ${name}"></button></div>`
  );
}
