// Plugins of Swagger UI: they put right what it shows.

/** A link of this class is the browser's: zenscroll, which Swagger UI contains, would open none of the folded parts. */
const NATIVE = 'noZensmooth';

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

/** The page has a heading, a guide, a field for the key and one server, so it shows only what follows them. */
const layout = ({ React: { createElement: e }, getComponent }) => ({
  components: {
    ReferenceLayout: () =>
      e(
        'div',
        { className: 'swagger-ui' },
        e('h2', { className: 'hidden' }, 'Operations'),
        e(
          'div',
          { className: 'wrapper' },
          // Their headings are of the levels 3, 4 and 2.
          ...['operations', 'Models', 'Webhooks'].map((name) => e(getComponent(name, true), { key: name })),
        ),
      ),
  },
  wrapComponents: {
    authorizeOperationBtn: () => () => null,
    // It copies only the path, and keyboards don't reach it.
    CopyToClipboardBtn: () => () => null,
  },
});

/** The path of an operation and its labels. It is inside of a button, so it can't be a link. */
const marks = {
  wrapComponents: {
    OperationSummaryPath:
      (_Original, { React: { createElement: e }, specSelectors }) =>
      (props) => {
        const { path, method } = props.operationProps.toObject();
        const operation = specSelectors.specJson().getIn(['paths', path, method]);
        const badges = marksOf(operation).flatMap(([kind, text]) => [
          ' ',
          e('span', { key: kind, className: `mark mark-${kind}` }, text),
        ]);
        const [first, ...rest] = path.split(/(?=\/)/);
        // A long path is broken only between its parts.
        const parts = rest.flatMap((part) => [e('wbr'), part]);
        return e('span', { className: 'opblock-summary-path', 'data-path': path }, first, ...parts, ...badges);
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

/** The errors of every operation are shown once, and those of this operation and the headers are folded. */
const folds = (errors) => ({
  wrapComponents: {
    headers:
      (Original, { React: { createElement: e } }) =>
      (props) => {
        if (!props.headers?.size) return null;
        const title = e('summary', null, `${props.headers.size} headers`);
        return e('details', { className: 'fold' }, title, e(Original, props));
      },
    response:
      (Original, { React: { createElement: e }, specSelectors }) =>
      (props) => {
        const place = ['paths', props.path, props.method, 'responses', props.code, '$ref'];
        const $ref = specSelectors.specJson().getIn(place);
        if (errors.some((error) => error.$ref === $ref)) return null;
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
});

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
          const copy = e('button', { type: 'button', className: 'copy', 'aria-label': `Copy ${label}` });
          const block = e('div', { className: 'code' }, code, copy);
          return e('details', { key: label, className: 'sample' }, e('summary', null, label), block);
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
    e('label', null, e('span', { className: 'hidden' }, nameOf(props)), e(Original, props));
  return {
    wrapComponents: {
      // The words of a filter are offered, though its type is open for generators of clients.
      JsonSchemaForm: (Original) => (props) => e(Original, { ...props, schema: withWords(props.schema) }),
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
        const everywhere = e('a', { href: '#errors', className: NATIVE }, 'All errors');
        return e('div', { ref: element }, e(Original, props), e('p', { className: 'everywhere' }, everywhere));
      },
    },
  };
};

function withWords(schema) {
  const words = schema?.get?.('x-extensible-enum');
  if (words) return schema.set('enum', words);
  return schema?.get?.('items') ? schema.update('items', withWords) : schema;
}

function nameOfParameter({ description = 'Value' }) {
  return description.split(' - ')[0];
}

/** @param errors those of every operation */
export function pluginsFor(errors) {
  return [exactNumbers, layout, marks, folds(errors), samples, hiddenKey, names];
}
