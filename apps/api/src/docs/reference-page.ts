import { type QuickStart, readQuickStarts } from '@adoption-store/web';

/**
 * The page at `/docs`. Its heading and the field for the key are in the HTML, so that people see them before the scripts
 * are loaded.
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
    <title>Animal Adoption Store API</title>
    <link rel="icon" href="favicon.ico" />
    <link rel="stylesheet" href="docs/page.css" />
    <script src="docs/swagger-ui-bundle.js" defer></script>
    <script src="docs/page.js" defer></script>
  </head>
  <body>
    <header>
      <h1>Animal Adoption Store API</h1>
      <ul>
        ${linksTo(portalUrl).join('\n        ')}
      </ul>
      <form id="key-form">
        <label for="key">API key, to try the operations</label>
        <input id="key" name="key" type="password" autocomplete="off" spellcheck="false" />
        <button>Use key</button>
        <output id="key-state" for="key"></output>
      </form>
      <details id="quick-start">
        <summary>Quick start in curl, TypeScript and Python</summary>
        <p>Each lists animals, adds one, and finds it by its id. All read two variables:</p>
        <pre tabindex="0" role="region" aria-label="The variables"><code>export API_URL='<span id="address">the address of this page, with /v1 instead of /docs</span>'
export API_KEY='aas_…'</code></pre>
        ${readQuickStarts().map(programOf).join('\n        ')}
      </details>
      <noscript><p>The operations below need JavaScript. The description has all of them.</p></noscript>
    </header>
    <link rel="stylesheet" href="docs/operations.css" />
    <main id="docs"></main>
  </body>
</html>
`;
}

function linksTo(portalUrl: string | undefined): readonly string[] {
  const file = '<li><a href="openapi.json">OpenAPI 3.1</a></li>';
  if (portalUrl === undefined) return ['<li>The operator of this service gives out keys</li>', file];
  // URL encodes what HTML would read as markup.
  const link = (path: string, text: string) => `<li><a href="${new URL(portalUrl + path).href}">${text}</a></li>`;
  return [link('/keys', 'Get a key'), link('/quickstart#typescript', 'Typed client'), file];
}

function programOf({ language, needs, file, command, pack, install, text }: QuickStart): string {
  const code = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const got =
    install === undefined
      ? ''
      : ` (<code>${pack ?? ''}</code> in the store's repository, then <code>${install}</code>)`;
  const how =
    command === undefined
      ? `Paste the lines into a shell, one after the other. They need ${needs}.`
      : `Save it as <code>${file}</code> and run <code>${command}</code>. It needs ${needs}${got}.`;
  return (
    `<h2>${language}</h2><p>${how}</p>` +
    `<pre tabindex="0" role="region" aria-label="The ${language} program"><code>${code}</code></pre>`
  );
}
