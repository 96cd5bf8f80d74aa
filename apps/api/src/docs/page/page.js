// The reference page: Swagger UI sends the requests, and what it lacks stands around it.
import { copyOnClick } from './copy.js';
import { readDescription } from './description.js';
import { acceptKey, withKey } from './key.js';
import { showNavigation, withAddress } from './navigation.js';
import { corrections } from './plugins.js';

for (const place of document.querySelectorAll('.address')) place.textContent = new URL('v1', location).href;
copyOnClick();
acceptKey();

function showOperations(description) {
  const ui = globalThis.SwaggerUIBundle({
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
    // The command to copy has the placeholder, which only what is sent replaces by the key.
    showMutatedRequest: false,
    onComplete: () => ui.preauthorizeApiKey('bearerAuth', 'YOUR_API_KEY'),
    plugins: [corrections, withAddress],
  });
  return ui;
}

readDescription()
  .then((description) => showNavigation(description, showOperations(description)))
  .catch((error) => {
    document.getElementById('docs').textContent = `The description can't be shown: ${error.message}`;
  });
