// The reference page: Swagger UI with the API's description, and with features that Swagger UI lacks.

const darkness = matchMedia('(prefers-color-scheme: dark)');
const followDarkness = () => document.documentElement.classList.toggle('dark-mode', darkness.matches);
darkness.addEventListener('change', followDarkness);
followDarkness();

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

/** The labels of an operation, beside its path. */
const marks = {
  wrapComponents: {
    OperationSummaryPath:
      (Original, { React, specSelectors }) =>
      (props) => {
        const { path, method } = props.operationProps.toObject();
        const operation = specSelectors.specJson().getIn(['paths', path, method]);
        const badges = marksOf(operation).map(([kind, text]) =>
          React.createElement('span', { key: kind, className: `mark mark-${kind}` }, text),
        );
        return React.createElement(React.Fragment, null, React.createElement(Original, props), ...badges);
      },
  },
};

function marksOf(operation) {
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
      (Original, { React }) =>
      (props) => {
        if (!props.headers?.size) return null;
        const title = React.createElement('summary', null, `${props.headers.size} headers`);
        return React.createElement('details', { className: 'fold' }, title, React.createElement(Original, props));
      },
    response:
      (Original, { React }) =>
      (props) => {
        const original = React.createElement(Original, props);
        if (!/^[45]/.test(props.code)) return original;
        const e = React.createElement;
        const title = e(
          'summary',
          null,
          e('b', null, props.code),
          ` ${props.response.get('description').replaceAll('`', '')}`,
        );
        const table = e('table', { className: 'responses-table' }, e('tbody', null, original));
        return e('tr', null, e('td', { colSpan: 3 }, e('details', { className: 'fold' }, title, table)));
      },
  },
};

async function show() {
  const address = new URL('openapi.json', location.href);
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address.href} answers ${response.status}`);
  const description = await response.json();
  // The page may call only its own server. The other servers are listed for API users.
  const [own, ...others] = description.servers;
  description.servers = [{ ...own, url: new URL(own.url, address).href }];
  const servers = others.map(({ url, description: name }) => `- ${name}: \`${url}\``);
  description.info.description += `\n\n## Servers\n${servers.join('\n')}\n\nThe description is at [openapi.json](${address.href}).`;
  globalThis.SwaggerUIBundle({
    spec: description,
    dom_id: '#docs',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    persistAuthorization: false,
    validatorUrl: null,
    plugins: [exactNumbers, marks, folds],
  });
}

show().catch((error) => {
  document.getElementById('docs').textContent = `The description can't be shown: ${error.message}`;
});
