// The reference page: Swagger UI with the API's description, and with what Swagger UI lacks.

const darkness = matchMedia('(prefers-color-scheme: dark)');
const followDarkness = () => document.documentElement.classList.toggle('dark-mode', darkness.matches);
darkness.addEventListener('change', followDarkness);
followDarkness();

/** The key is only in this page's memory. */
let key = '';
document.getElementById('key-form').addEventListener('submit', (event) => {
  event.preventDefault();
  key = event.target.elements.key.value.trim();
  document.getElementById('key-state').textContent =
    key === '' ? 'Requests are sent without a key.' : 'Requests are sent with this key.';
});

document.getElementById('address').textContent = new URL('v1', location).href;

function withKey(request) {
  if (key !== '') request.headers.Authorization = `Bearer ${key}`;
  return request;
}

/** Keeps numbers exactly as written if the browser can (JSON.rawJSON): Swagger UI would round an int64 to a double. */
function indented(text) {
  try {
    const asWritten = (_key, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value);
    return JSON.stringify(JSON.parse(text, asWritten), null, 2);
  } catch {
    return text;
  }
}

const exactNumbers = (system) => ({
  // Swagger UI looks for a component of this name, logs an error without it, and uses this one.
  components: {
    JsonSchema_integer_int64: (props) => system.React.createElement(props.getComponent('JsonSchema_string'), props),
  },
  wrapComponents: {
    responseBody: (Original) => (props) => {
      const isText = typeof props.content === 'string' && /json/i.test(props.contentType ?? '');
      const shown = isText ? { content: indented(props.content), contentType: 'text/plain' } : {};
      return system.React.createElement(Original, { ...props, ...shown });
    },
  },
});

/** The page has a heading, a field for the key and one server, so it shows only what follows them. */
const layout = ({ React: { createElement: e }, getComponent, specSelectors }) => ({
  components: {
    ReferenceLayout: () =>
      e(
        'div',
        { className: 'swagger-ui' },
        e(
          'details',
          { className: 'about' },
          e('summary', null, 'Keys, scopes, errors, numbers, pages, limits, webhooks, repeated requests'),
          e(getComponent('Markdown', true), { source: specSelectors.specJson().getIn(['info', 'description']) }),
        ),
        e('h2', { className: 'unseen' }, 'Operations'),
        e(
          'div',
          { className: 'wrapper' },
          // Their headings are of the levels 3, 4 and 2.
          ...['operations', 'Models', 'Webhooks'].map((name) => e(getComponent(name, true), { key: name })),
        ),
      ),
  },
  wrapComponents: { authorizeOperationBtn: () => () => null },
});

/** The path of an operation and its labels. It is inside of a button, so it can't be a link. */
const marks = {
  wrapComponents: {
    OperationSummaryPath:
      (_Original, { React: { createElement: e }, specSelectors }) =>
      (props) => {
        const { path, method } = props.operationProps.toObject();
        const operation = specSelectors.specJson().getIn(['paths', path, method]);
        const badges = marksOf(operation).map(([kind, text]) =>
          e('span', { key: kind, className: `mark mark-${kind}` }, text),
        );
        return e('span', { className: 'opblock-summary-path', 'data-path': path }, path, ...badges);
      },
  },
};

/** @param operation undefined for what a receiver of webhooks gets. */
function marksOf(operation) {
  if (operation === undefined) return [];
  const stability = operation.get('x-stability');
  const sunset = operation.get('x-deprecated-sunset');
  return [
    ...(stability ? [[stability, stability]] : []),
    ...(operation.get('deprecated') ? [['deprecated', `deprecated, removed on ${sunset}`]] : []),
  ];
}

/** Every operation has the same ten errors and every response the same six headers, so they are folded. */
const folds = {
  wrapComponents: {
    headers:
      (Original, { React: { createElement: e } }) =>
      (props) => {
        if (!props.headers?.size) return null;
        const title = e('summary', null, `${props.headers.size} headers`);
        return e('details', { className: 'fold' }, title, e(Original, props));
      },
    response:
      (Original, { React: { createElement: e } }) =>
      (props) => {
        const original = e(Original, props);
        if (!/^[45]/.test(props.code)) return original;
        const title = e(
          'summary',
          null,
          e('b', null, props.code),
          ` ${props.response.get('description')}`.replaceAll('`', ''),
        );
        const table = e('table', { className: 'responses-table' }, e('tbody', null, original));
        return e('tr', null, e('td', { colSpan: 3 }, e('details', { className: 'fold' }, title, table)));
      },
  },
};

/** How programs call the operation. */
const samples = {
  wrapComponents: {
    parameters:
      (Original, { React: { createElement: e, Fragment }, specSelectors }) =>
      (props) => {
        const all = specSelectors.specJson().getIn(['paths', ...props.pathMethod, 'x-codeSamples']) ?? [];
        const shown = [...all].map((sample) => {
          const label = sample.get('label');
          const code = e('pre', null, e('code', null, sample.get('source')));
          return e('details', { key: label, className: 'sample' }, e('summary', null, label), code);
        });
        return e(Fragment, null, ...shown, e(Original, props));
      },
  },
};

/** The command to copy doesn't show the key, as its field doesn't. */
const hiddenKey = ({ React }) => ({
  wrapComponents: {
    curl: (Original) => (props) => {
      const request = props.request.updateIn(['headers', 'Authorization'], (value) => value && 'Bearer YOUR_API_KEY');
      return React.createElement(Original, { ...props, request });
    },
  },
});

/** Names for the fields that Swagger UI leaves without one. */
const names = ({ React: { createElement: e, useEffect, useRef } }) => {
  const named = (nameOf) => (Original) => (props) =>
    e('label', null, e('span', { className: 'unseen' }, nameOf(props)), e(Original, props));
  return {
    wrapComponents: {
      JsonSchema_string: (Original) => (props) =>
        props.schema?.get?.('enum') ? named(nameOfParameter)(Original)(props) : e(Original, props),
      ExamplesSelect: named(() => 'Example'),
      // There is only one type.
      contentType: () => () => null,
      TextArea: named(() => 'Body'),
      responses: (Original) => (props) => {
        const element = useRef();
        useEffect(() => {
          const name = `Responses of ${props.method.toUpperCase()} ${props.path}`;
          for (const region of element.current.querySelectorAll('[role=region]'))
            region.setAttribute('aria-label', name);
        });
        return e('div', { ref: element }, e(Original, props));
      },
    },
  };
};

function nameOfParameter({ description = 'Value' }) {
  return description.split(' - ')[0];
}

async function show() {
  const address = new URL('openapi.json', location.href);
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address.href} answers ${response.status}`);
  const description = await response.json();
  // The page may call only its own server, whichever name it was reached by. The servers are listed for API users.
  const servers = description.servers.map(
    ({ url, description: name }) => `- ${name}: \`${new URL(url, address).href}\``,
  );
  description.info.description += `\n\n## Servers\n${servers.join('\n')}`;
  description.servers = [{ url: new URL('v1', address).href }];
  globalThis.SwaggerUIBundle({
    spec: description,
    dom_id: '#docs',
    layout: 'ReferenceLayout',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    // Its colours have too little contrast.
    syntaxHighlight: false,
    validatorUrl: null,
    requestInterceptor: withKey,
    plugins: [exactNumbers, layout, marks, folds, samples, hiddenKey, names],
  });
}

show().catch((error) => {
  document.getElementById('docs').textContent = `The description can't be shown: ${error.message}`;
});
