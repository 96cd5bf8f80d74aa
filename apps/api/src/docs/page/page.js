// The reference page: Swagger UI sends the requests, and what it lacks stands around it.
import { copyOnClick } from './copy.js';
import { sharedErrors } from './description.js';
import { acceptKey, withKey } from './key.js';
import { addressOfOpened, showNavigation } from './navigation.js';
import { pluginsFor } from './plugins.js';

for (const place of document.querySelectorAll('.address')) place.textContent = new URL('v1', location).href;
copyOnClick();
acceptKey();

async function readDescription() {
  const address = new URL('openapi.json', location.href);
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address.href} answers ${response.status}`);
  const description = await response.json();
  // The page may call only its own server, whichever name it was reached by. The guide lists the others.
  description.servers = [{ url: new URL('v1', address).href }];
  return description;
}

function showOperations(description) {
  return globalThis.SwaggerUIBundle({
    spec: description,
    dom_id: '#docs',
    layout: 'ReferenceLayout',
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    // Its colours have too little contrast.
    syntaxHighlight: false,
    validatorUrl: null,
    requestInterceptor: withKey,
    plugins: [...pluginsFor(sharedErrors(description)), addressOfOpened],
  });
}

readDescription()
  .then((description) => showNavigation(description, showOperations(description)))
  .catch((error) => {
    document.getElementById('docs').textContent = `The description can't be shown: ${error.message}`;
  });
