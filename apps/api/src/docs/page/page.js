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

const exactNumbers = {
  wrapComponents: {
    responseBody:
      (Original, { React }) =>
      (props) => {
        const isText = typeof props.content === 'string' && /json/i.test(props.contentType ?? '');
        const shown = isText ? { content: indented(props.content), contentType: 'text/plain' } : {};
        return React.createElement(Original, { ...props, ...shown });
      },
  },
};

function marksOf(operation) {
  const stability = operation.get('x-stability');
  const sunset = operation.get('x-deprecated-sunset');
  return [
    ...(stability ? [[stability, stability]] : []),
    ...(operation.get('deprecated')
      ? [['deprecated', sunset ? `deprecated, removed on ${sunset}` : 'deprecated']]
      : []),
  ];
}

/** The marks of an operation, beside its path. */
const marks = {
  wrapComponents: {
    OperationSummaryPath:
      (Original, { React }) =>
      (props) => {
        const operation = props.operationProps.get('op');
        const badges = marksOf(operation).map(([kind, text]) =>
          React.createElement('span', { key: kind, className: `mark mark-${kind}` }, text),
        );
        return React.createElement(React.Fragment, null, React.createElement(Original, props), ...badges);
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
    plugins: [exactNumbers, marks],
  });
}

show().catch((error) => {
  document.getElementById('docs').textContent = `The description can't be shown: ${error.message}`;
});
