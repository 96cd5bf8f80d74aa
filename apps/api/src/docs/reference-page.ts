import { type QuickStart, readQuickStarts, SIGN } from '@adoption-store/web';

const NAVIGATION = `<nav class="side" aria-label="Operations">
        <details id="menu">
          <summary>Find an operation</summary>
          <label for="search">Search operations</label>
          <input id="search" type="search" autocomplete="off" spellcheck="false" />
          <output id="found" for="search"></output>
          <ul class="starts">
            <li><a class="noZensmooth" href="#guide">Guide</a></li>
            <li><a class="noZensmooth" href="#errors">Errors of every operation</a></li>
          </ul>
          <ul id="groups"></ul>
        </details>
      </nav>`;

const KEY_FORM = `<form id="key-form">
          <label for="key">API key, to try the operations</label>
          <div class="field">
            <input id="key" name="key" type="password" autocomplete="off" spellcheck="false" aria-describedby="key-hint" />
            <button class="button">Use key</button>
          </div>
          <p class="hint" id="key-hint">Only this page has it, and forgets it when it is reloaded.</p>
          <output id="key-state" for="key"></output>
        </form>`;

/**
 * The page at `/docs`. Its heading and the key's field are in the HTML, so people see them before scripts are loaded.
 *
 * @param portalUrl the portal's address, where people get keys. Undefined if it is not known.
 */
export function referencePage(portalUrl: string | undefined): string {
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
        ${KEY_FORM}
        ${quickStart()}
        <noscript><p>The operations below need JavaScript. The description has all of them.</p></noscript>
        <link rel="stylesheet" href="docs/operations.css" />
        <div id="docs"></div>
      </main>
    </div>
    <p id="status" class="hidden" role="status"></p>
  </body>
</html>
`;
}

function header(portalUrl: string | undefined): string {
  const home = portalUrl === undefined ? 'docs' : addressOf(portalUrl, '/');
  return `<header class="top">
      <div class="bar">
        <a class="brand" href="${home}">
          ${SIGN}
          <span>Adoption Store <small>API</small></span>
        </a>
        <nav aria-label="Main">
          <ul>
            ${linksTo(portalUrl).join('\n            ')}
          </ul>
        </nav>
      </div>
    </header>`;
}

function quickStart(): string {
  return `<details id="quick-start">
          <summary>Quick start in curl, TypeScript and Python</summary>
          <p>Each lists animals, adds one, and finds it by its id. All read two variables:</p>
          ${codeBlock(
            'variables',
            `export API_URL='<span id="address">the address of this page, with /v1 instead of /docs</span>'
export API_KEY='aas_…'`,
          )}
          ${readQuickStarts().map(programOf).join('\n          ')}
        </details>`;
}

function linksTo(portalUrl: string | undefined): readonly string[] {
  const file = '<li><a href="openapi.json">OpenAPI 3.1</a></li>';
  if (portalUrl === undefined) return ['<li>The operator of this service gives out keys</li>', file];
  const link = (path: string, text: string) => `<li><a href="${addressOf(portalUrl, path)}">${text}</a></li>`;
  return [link('/keys', 'Get a key'), link('/quickstart#typescript', 'Typed client'), file];
}

/** URL encodes what HTML would read as markup. */
function addressOf(portalUrl: string, path: string): string {
  return new URL(portalUrl + path).href;
}

function programOf({ language, needs, file, command, text }: QuickStart): string {
  const code = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const how =
    command === undefined
      ? `Paste the lines into a shell, one after the other. They need ${needs}.`
      : `Save it as <code>${file}</code> and run <code>${command}</code>. It needs ${needs}.`;
  return `<h2>${language}</h2><p>${how}</p>${codeBlock(`${language} program`, code)}`;
}

/** @param html the code, escaped */
function codeBlock(name: string, html: string): string {
  return (
    `<div class="code"><pre tabindex="0" role="region" aria-label="The ${name}"><code>${html}</code></pre>` +
    `<button type="button" class="copy" aria-label="Copy the ${name}"></button></div>`
  );
}
