/** Keeps numbers exactly as written if the browser can (JSON.rawJSON): Swagger UI would round an int64 to a double. */
function indented(text) {
  try {
    const asWritten = (_key, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value);
    return JSON.stringify(JSON.parse(text, asWritten), null, 2);
  } catch {
    return text;
  }
}

/** @param operation undefined for what a receiver of webhooks gets. */
function marksOf(operation) {
  const stability = operation?.get('x-stability');
  return [
    ...(stability ? [[stability, stability === 'beta' ? 'good' : 'wait']] : []),
    ...(operation?.get('deprecated')
      ? [[`deprecated, removed on ${operation.get('x-deprecated-sunset')}`, 'bad']]
      : []),
  ];
}

/** The words of a filter are offered, though its type is open for generators of clients. */
function withWords(schema) {
  const words = schema?.get?.('x-extensible-enum');
  if (words) return schema.set('enum', words);
  return schema?.get?.('items') ? schema.update('items', withWords) : schema;
}

/** A plugin of Swagger UI: it puts right what that shows. */
export function corrections({ React: { createElement: e, Fragment, useEffect, useRef }, getComponent, specSelectors }) {
  const at = (...place) => specSelectors.specJson().getIn(['paths', ...place]);
  const fold = (key, title, ...content) =>
    e('details', { key, className: 'fold' }, e('summary', null, ...title), ...content);
  const nothing = () => () => null;
  /** Names a field that Swagger UI leaves without a name. */
  const named = (nameOf) => (Original) => (props) =>
    e('label', null, e('span', { className: 'hidden' }, nameOf(props)), e(Original, props));
  const namedParameter = named(({ description = 'Value' }) => description.split(' - ')[0]);
  return {
    components: {
      // The page has a heading, a guide, a field for the key and one server, so this shows only what follows them.
      ReferenceLayout: () => [
        e('h2', { key: 'heading', className: 'hidden' }, 'Operations'),
        // Their headings are of the levels 3, 4 and 2.
        ...['operations', 'Models', 'Webhooks'].map((name) => e(getComponent(name, true), { key: name })),
      ],
      // Swagger UI looks for a component of this name, logs an error without it, and uses this one.
      JsonSchema_integer_int64: (props) => e(getComponent('JsonSchema_string'), props),
    },
    wrapComponents: {
      authorizeOperationBtn: nothing,
      // It copies only the path, and keyboards don't reach it.
      CopyToClipboardBtn: nothing,
      // There is only one type.
      contentType: nothing,
      responseBody: (Original) => (props) => {
        const isText = typeof props.content === 'string' && /json/i.test(props.contentType ?? '');
        return e(Original, {
          ...props,
          ...(isText && { content: indented(props.content), contentType: 'text/plain' }),
        });
      },
      OperationSummaryPath: (Original) => (props) => {
        const { path, method } = props.operationProps.toObject();
        const marks = marksOf(at(path, method));
        const tags = marks.map(([text, look]) => e('span', { key: text, className: `tag ${look}` }, text));
        return e(Fragment, null, e(Original, props), ...tags);
      },
      headers: (Original) => (props) =>
        props.headers?.size ? fold('headers', [`${props.headers.size} headers`], e(Original, props)) : null,
      response: (Original) => (props) => {
        const original = e(Original, props);
        if (!/^[45]/.test(props.code)) return original;
        const title = [e('b', null, props.code), ` ${props.response.get('description')}`.replaceAll('`', '')];
        const table = e('table', { className: 'responses-table' }, e('tbody', null, original));
        return e('tr', null, e('td', { colSpan: 3 }, fold('error', title, table)));
      },
      // How programs call the operation.
      parameters: (Original) => (props) => {
        const samples = [...(at(...props.pathMethod, 'x-codeSamples') ?? [])].map((sample) => {
          const label = sample.get('label');
          const code = e('pre', null, e('code', null, sample.get('source')));
          const copy = e('button', { type: 'button', className: 'copy', 'aria-label': `Copy ${label}` });
          return fold(label, [label], e('div', { className: 'code' }, code, copy));
        });
        return e(Fragment, null, e('div', { className: 'samples' }, ...samples), e(Original, props));
      },
      responses: (Original) => (props) => {
        const element = useRef();
        useEffect(() => {
          const name = `Responses of ${props.method.toUpperCase()} ${props.path}`;
          for (const region of element.current.querySelectorAll('[role=region]'))
            region.setAttribute('aria-label', name);
        });
        const errors = e('p', { className: 'everywhere' }, e('a', { href: '#errors' }, 'All errors'));
        return e('div', { ref: element }, e(Original, props), errors);
      },
      JsonSchemaForm: (Original) => (props) => e(Original, { ...props, schema: withWords(props.schema) }),
      JsonSchema_string: (Original) => (props) =>
        props.schema?.get?.('enum') ? namedParameter(Original)(props) : e(Original, props),
      ExamplesSelect: named(() => 'Example'),
      TextArea: named(() => 'Body'),
    },
  };
}
