// The reference page: Swagger UI on our description, with what it leaves out.

const darkness = matchMedia('(prefers-color-scheme: dark)');
const followDarkness = () => document.documentElement.classList.toggle('dark-mode', darkness.matches);
darkness.addEventListener('change', followDarkness);
followDarkness();

/** A number as it was written, where the browser can (JSON.rawJSON): Swagger UI would round an int64 to a double. */
function indented(text) {
  try {
    const asWritten = (_key, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value);
    return JSON.stringify(JSON.parse(text, asWritten), null, 2);
  } catch {
    return text;
  }
}

const exactNumbers = (system) => ({
  // Swagger UI asks for it by name, misses it loudly, and takes this one.
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

/** The marks of an operation, beside its path. */
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

/** Every operation has the same ten refusals, and every answer six headers: folded, so that one sees the rest. */
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
  // The page may call no other server than its own; the others are named for those who build on the API.
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
