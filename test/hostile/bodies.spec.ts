import { ask, type Case, describeHostile, get, post } from './hostile-api.js';

const PETS = '/v1/pets';
const ORDERS = '/v1/store/orders';
const MESSAGES = '/v1/messages';
const JSON_TYPE = 'Content-Type: application/json';

/** A valid animal with one additional property. */
const pet = (value: string | Buffer, name = '"x"') =>
  post(
    PETS,
    Buffer.concat([Buffer.from(`{"name":"Luna","categoryId":1,${name}:`), Buffer.from(value), Buffer.from('}')]),
  );
const named = (name: Buffer) =>
  post(PETS, Buffer.concat([Buffer.from('{"name":"'), name, Buffer.from('","categoryId":1}')]));
const message = (text: Buffer) => post(MESSAGES, Buffer.concat([Buffer.from('{"message":"'), text, Buffer.from('"}')]));
const filled = (count: number, unit: string, begin: string, end: string) => `${begin}${unit.repeat(count)}${end}`;
const nested = (depth: number, open: string, close: string) => `${open.repeat(depth)}1${close.repeat(depth)}`;
const keys = (count: number, key: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `"${key(index)}":1`).join(',');
const utf16 = (text: string, isBigEndian = false) => {
  const bytes = Buffer.from(text, 'utf16le');
  return isBigEndian ? bytes.swap16() : bytes;
};

/** Bytes that are not UTF-8, in hexadecimal. */
const NOT_UTF8 = {
  'the first byte of two alone': 'c3',
  'the first of two and a letter': 'c341',
  'two of three bytes': 'e282',
  'three of four bytes': 'f09f90',
  'a continuation behind a letter': '41a9',
  'an overlong letter': 'c181',
  'an overlong slash of three bytes': 'e080af',
  'an overlong slash of four bytes': 'f08080af',
  'an overlong quote': 'c0a2',
  'a sequence of five bytes': 'f888808080',
  'a sequence of six bytes': 'fc8480808080',
  'a high surrogate': 'eda0bd',
  'a low surrogate': 'edb880',
  'a pair of surrogates': 'eda0bdedb880',
  'U+110000': 'f4908080',
  '0xFE': 'fe',
  '0xF5': 'f5808080',
  'a letter of Windows-1252': '80',
  'a letter of Shift JIS': '8354',
  'a letter of GB 18030': '81308130',
};

/** Texts that JSON.parse or other parsers accept, or once accepted. */
const NO_JSON = [
  '{]',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{"a":1 "b":2}',
  '{"a":1;}',
  '{"a"=1}',
  '{a:1}',
  "{'a':1}",
  '{"a":1}}',
  '{{}}',
  '{[]}',
  '{"a":[1 2]}',
  '{"a":[1,,2]}',
  '{"a":[,1]}',
  '{"a":[}',
  '{"a":tRue}',
  '{"a":truex}',
  '{"a":nul}',
  '{"a":nulll}',
  '{"a":undefined}',
  '{"a":0x1}',
  '{"a":1.}',
  '{"a":.1}',
  '{"a":1e}',
  '{"a":1e+}',
  '{"a":+1}',
  '{"a":-}',
  '{"a":--1}',
  '{"a":00}',
  '{"a":-00}',
  '{"a":1.2.3}',
  '{"a":1e1e1}',
  '{"a":1 .5}',
  '{"a":- 1}',
  '{"a":1_0}',
  '{"a":1n}',
  '{"a":0b1}',
  '{"a":0o7}',
  '{"a":Infinity}',
  '{"a":"\\x41"}',
  '{"a":"\\u12"}',
  '{"a":"\\u00g0"}',
  '{"a":"\\U0041"}',
  '{"a":"\\\'"}',
  '{"a":"\\0"}',
  '{"a":"\\',
  '{"a":"\\"}',
  '{"a":"b',
  '{"a',
  '{',
  '{"',
  '{"a":"\r"}',
  '{"a":"\x1f"}',
  '{"a":1}//',
  '{"a":1}/**/',
  '{"a":1}#',
  '{"a":1}\n{"b":2}',
  '{"a":1},',
  '/**/{"a":1}',
  '<!--{}-->',
  'while(1);{"a":1}',
  '({"a":1})',
  '{"a":1}\x0c',
  '\x0b{"a":1}',
  '{"a":1}\0',
  '\0{"a":1}',
  '{"a":\0}',
  '\u2028{"a":1}',
  '{"a":1}\u00a0',
  '{\ufeff"a":1}',
];

const NUMBERS = [
  '1.0',
  '-1.0',
  '1e0',
  '1E+0',
  '1e-0',
  '10e-1',
  '0e0',
  '-0.0',
  '1.5',
  '1e19',
  '1e400',
  '-1e400',
  '1e-400',
  '9223372036854775808',
  '-9223372036854775809',
  '9223372036854775807.0',
  '100000000000000000000',
  '1'.repeat(21),
  '1'.repeat(5_000),
  `0.${'1'.repeat(5_000)}`,
  `1e${'9'.repeat(5_000)}`,
  `${'1'.repeat(300)}.5`,
];
const NOT_INTEGERS = [
  '"1"',
  '" 1"',
  'null',
  'true',
  'false',
  '[]',
  '[1]',
  '[[1]]',
  '{}',
  '{"$gt":0}',
  '{"valueOf":1}',
  '""',
  '"9223372036854775807"',
  '"1n"',
];

/** A short and distinctive name. */
function nameOf(value: string): string {
  return value.length > 40 ? `${value.slice(0, 20)}… of ${value.length} characters` : value;
}

describeHostile({
  'a body that is not UTF-8 is answered 400 invalid_json:': Object.entries(NOT_UTF8).flatMap(([name, hex]): Case[] => [
    [`an animal with ${name}`, 'invalid_json', named(Buffer.from(hex, 'hex'))],
    [`a message with ${name}`, 'invalid_json', message(Buffer.from(hex, 'hex'))],
    [`an unknown property with ${name}`, 'invalid_json', pet(Buffer.from(`22${hex}22`, 'hex'))],
  ]),
  'a body in another encoding is answered 400:': [
    ['UTF-16, big-endian', 'invalid_json', post(PETS, utf16('{"name":"Luna","categoryId":1}', true))],
    [
      'UTF-16, big-endian, with its mark',
      'invalid_json',
      post(PETS, utf16('\ufeff{"name":"Luna","categoryId":1}', true)),
    ],
    ['UTF-32', 'invalid_json', post(PETS, Buffer.from('7b00000022000000', 'hex'))],
    ['UTF-7', 'invalid_json', post(PETS, '+AHs-"name":"Luna","categoryId":1+AH0-')],
    ['UTF-8 with two marks', 'invalid_json', post(PETS, '\ufeff\ufeff{"name":"Luna","categoryId":1}')],
    ['UTF-8 with its mark behind', 'invalid_json', post(PETS, '{"name":"Luna","categoryId":1}\ufeff')],
    ['EBCDIC', 'invalid_json', post(PETS, Buffer.from('c07f95819485', 'hex'))],
    ['base64', 'invalid_json', post(PETS, Buffer.from('{"name":"Luna"}').toString('base64'))],
    ['percent-encodings', 'invalid_json', post(PETS, '%7B%22name%22%3A%22Luna%22%7D')],
    ['CBOR', 'invalid_json', post(PETS, Buffer.from('a2646e616d65644c756e616a63617465676f7279496401', 'hex'))],
    ['MessagePack', 'invalid_json', post(PETS, Buffer.from('82a46e616d65a44c756e61', 'hex'))],
    ['Protocol Buffers', 'invalid_json', post(PETS, Buffer.from('0a044c756e611001', 'hex'))],
    [
      'a zip bomb’s beginning',
      'invalid_json',
      post(PETS, Buffer.from('1f8b0800000000000203ecc1010d000000c2a0f74f6d0e37a0000000', 'hex')),
    ],
    [
      'gzip, and it says so',
      'unsupported_media_type',
      post(PETS, 'x', JSON_TYPE, 'Content-Length: 1', 'Content-Encoding: gzip'),
    ],
    [
      'brotli, twice',
      'unsupported_media_type',
      post(PETS, 'x', JSON_TYPE, 'Content-Length: 1', 'Content-Encoding: br', 'Content-Encoding: br'),
    ],
    [
      'identity and gzip',
      'unsupported_media_type',
      post(PETS, 'x', JSON_TYPE, 'Content-Length: 1', 'Content-Encoding: identity', 'Content-Encoding: gzip'),
    ],
    [
      'an encoding of __proto__',
      'unsupported_media_type',
      post(MESSAGES, 'x', JSON_TYPE, 'Content-Length: 1', 'Content-Encoding: __proto__'),
    ],
  ],
  'what is no JSON is answered 400 invalid_json:': NO_JSON.map((text): Case => [
    JSON.stringify(text),
    'invalid_json',
    post(MESSAGES, text),
  ]),
  'JSON that is no object is answered 400 invalid_json:': [ORDERS, MESSAGES].flatMap((path) =>
    ['[]', '[[]]', '""', '"{}"', '0', '-0', '1.5', 'true', 'null', '[{}]'].map((text): Case => [
      `${text} at ${path}`,
      'invalid_json',
      post(path, text),
    ]),
  ),
  'a categoryId is answered 400 invalid_parameter:': [...NUMBERS, ...NOT_INTEGERS].map((value): Case => [
    nameOf(value),
    'invalid_parameter',
    post(PETS, `{"name":"Luna","categoryId":${value}}`),
  ]),
  'a petId is answered 400 invalid_parameter:': [...NUMBERS, ...NOT_INTEGERS].map((value): Case => [
    nameOf(value),
    'invalid_parameter',
    post(ORDERS, `{"petId":${value}}`),
  ]),
  properties: [
    ['of 5,000 names are taken', 201, pet(`{${keys(5_000, String)}}`)],
    ['of 5,000 names that begin alike are taken', 201, pet(`{${keys(3_000, (index) => `aaaaaaaaaa${index}`)}}`)],
    ['of names that are indices are taken', 201, pet(`{${keys(3_000, (index) => String(4_294_967_290 + index))}}`)],
    [
      'of names of every object are taken',
      201,
      pet('{"toString":1,"valueOf":2,"hasOwnProperty":3,"constructor":4,"then":5,"toJSON":6,"length":7}'),
    ],
    ['of a name of 30,000 characters are taken', 201, pet('1', `"${'k'.repeat(30_000)}"`)],
    ['of prototype alone is taken', 201, pet('{"prototype":{"name":"x"}}')],
    ['of __defineGetter__ is taken', 201, pet('{"__defineGetter__":1,"__lookupSetter__":2}')],
    [
      'that are twice among 3,000 are refused',
      'invalid_json',
      pet(`{${keys(3_000, (index) => String(index % 2_999))}}`),
    ],
    ['that are twice by another escape are refused', 'invalid_json', pet('{"\\u00e9":1,"é":2}')],
    ['that are alike but for normalisation are taken', 201, pet('{"\\u00e9":1,"e\\u0301":2}')],
    [
      'of __proto__ 16 levels deep are refused',
      'invalid_json',
      pet(nested(14, '{"a":', '}').replace('1', '{"__proto__":1}')),
    ],
    ['of __proto__ in an array are refused', 'invalid_json', pet('[[],[{"__proto__":[]}]]')],
    [
      'of __proto__ as an escape of each letter are refused',
      'invalid_json',
      pet('1', '"\\u005f\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f"'),
    ],
    [
      'of constructor and prototype in a message are refused',
      'invalid_json',
      post(MESSAGES, '{"message":"x","constructor":{"prototype":{}}}'),
    ],
    [
      'of constructor and prototype in an order are refused',
      'invalid_json',
      post(ORDERS, '{"petId":1,"constructor":{"prototype":null}}'),
    ],
    ['of a lone surrogate in a name are refused', 'invalid_json', pet('1', '"\\udc00"')],
    ['of U+0000 in a name are refused', 'invalid_json', pet('1', '"\\u0000"')],
    [
      'of a status by the prototype are refused',
      'invalid_parameter',
      post(PETS, '{"name":"Luna","categoryId":1,"status":"toString"}'),
    ],
    [
      'of a status of an object are refused',
      'invalid_parameter',
      post(PETS, '{"name":"Luna","categoryId":1,"status":{"toString":"sold"}}'),
    ],
    [
      'of a name of an object with a length are refused',
      'invalid_parameter',
      post(PETS, '{"name":{"length":1,"0":"x"},"categoryId":1}'),
    ],
    [
      'of a message of an array with a length are refused',
      'invalid_parameter',
      post(MESSAGES, '{"message":["x","y"]}'),
    ],
    ['of a message of a number are refused', 'invalid_parameter', post(MESSAGES, '{"message":1e400}')],
  ],
  nesting: [
    ['of 16 levels of arrays is taken', 201, pet(nested(15, '[', ']'))],
    ['of 16 levels of objects is taken', 201, pet(nested(15, '{"a":', '}'))],
    ['of 17 levels of both is refused', 'invalid_json', pet(nested(8, '[{"a":', '}]'))],
    ['of 17 levels behind 16 is refused', 'invalid_json', pet(`[${nested(14, '[', ']')},${nested(15, '[', ']')}]`)],
    ['of 65,000 levels that never end is refused', 'invalid_json', post(PETS, '['.repeat(65_000))],
    ['of 10,000 objects that never end is refused', 'invalid_json', post(MESSAGES, '{"a":'.repeat(10_000))],
    [
      'of 30,000 levels at once closed is refused',
      'invalid_json',
      post(ORDERS, `${'['.repeat(30_000)}${']'.repeat(30_000)}`),
    ],
    [
      'of 3,000 times 15 levels is taken',
      201,
      pet(`[${Array.from({ length: 1_500 }, () => nested(13, '[', ']')).join(',')}]`),
    ],
    ['that closes more than it opens is refused', 'invalid_json', post(PETS, ']'.repeat(60_000))],
    ['that closes the other way is refused', 'invalid_json', post(PETS, '{"a":[1}]')],
  ],
  text: [
    [
      'of every control character, escaped, is taken',
      201,
      named(
        Buffer.from(
          Array.from({ length: 31 }, (_, index) => `\\u00${(index + 1).toString(16).padStart(2, '0')}`).join(''),
        ),
      ),
    ],
    ['of U+2028 and U+2029 between letters is taken', 201, named(Buffer.from('a\u2028\u2029b'))],
    ['of noncharacters is taken', 201, named(Buffer.from('\ufffe\uffff\u{1ffff}\ufdd0'))],
    ['of private characters is taken', 201, named(Buffer.from('\ue000\u{10fffd}'))],
    ['of a pair of surrogates, escaped, is taken', 201, named(Buffer.from('\\ud83d\\udc08'))],
    ['of a pair of which one is escaped is refused', 'invalid_json', named(Buffer.from('\\ud83d🐈'))],
    ['of two high surrogates is refused', 'invalid_json', named(Buffer.from('\\ud83d\\ud83d'))],
    ['of U+0000 behind 200 letters is refused', 'invalid_json', named(Buffer.from(`${'x'.repeat(200)}\\u0000`))],
    ['of U+0000 as a byte is refused', 'invalid_json', named(Buffer.from('a\0b'))],
    ['of a delete character is taken', 201, named(Buffer.from('a\x7fb'))],
    ['of right-to-left overrides is taken', 201, named(Buffer.from('\u202eanuL\u202c'))],
    ['of 255 marks on a letter is refused', 'invalid_parameter', named(Buffer.from(`a${'\u0301'.repeat(255)}`))],
    ['of 10,000 escapes is refused as a name', 'invalid_parameter', named(Buffer.from('\\u0041'.repeat(10_000)))],
    ['of 30,000 escaped quotes is refused as a name', 'invalid_parameter', named(Buffer.from('\\"'.repeat(30_000)))],
    ['of 16,000 emoji is refused as a name', 'invalid_parameter', named(Buffer.from('🐈'.repeat(16_000)))],
    ['of 60,000 spaces is refused as a name', 'invalid_parameter', named(Buffer.from(' '.repeat(60_000)))],
    ['of zero-width characters is a name', 201, named(Buffer.from('\u200b\u200d'))],
    ['of mail headers is a message', 202, message(Buffer.from('x\\r\\nSubject: y\\r\\n\\r\\n.\\r\\nQUIT\\r\\n'))],
    ['of 60,000 dots is refused as a message', 'invalid_parameter', message(Buffer.from('.'.repeat(60_000)))],
  ],
  'a body of 64 KiB': [
    ['of digits is refused', 'invalid_parameter', post(PETS, filled(65_000, '9', '{"name":"Luna","categoryId":', '}'))],
    [
      'of zeros behind a point is refused',
      'invalid_parameter',
      post(PETS, filled(65_000, '0', '{"name":"Luna","categoryId":0.', '1}')),
    ],
    ['of small integers is taken', 201, pet(filled(32_000, '1,', '[', '1]'))],
    ['of great integers is taken', 201, pet(filled(3_200, '9223372036854775807,', '[', '1]'))],
    ['of fractions is taken', 201, pet(filled(6_500, '1.5e-300,', '[', '1]'))],
    ['of empty arrays is taken', 201, pet(filled(21_000, '[],', '[', '1]'))],
    ['of empty objects is taken', 201, pet(filled(21_000, '{},', '[', '1]'))],
    ['of empty strings is taken', 201, pet(filled(21_000, '"",', '[', '1]'))],
    ['of white space is taken', 201, pet(filled(16_000, ' \t\r\n', '[', '1]'))],
    ['of commas is refused', 'invalid_json', pet(filled(60_000, ',', '[', ']'))],
    ['of colons is refused', 'invalid_json', post(PETS, ':'.repeat(65_536))],
    ['of quotes is refused', 'invalid_json', post(PETS, '"'.repeat(65_536))],
    ['of backslashes is refused', 'invalid_json', post(PETS, `{"${'\\'.repeat(65_000)}`)],
    ['of escapes cut short is refused', 'invalid_json', post(PETS, `{"name":"${'\\u00'.repeat(16_000)}"}`)],
    ['of minus signs is refused', 'invalid_json', pet('-'.repeat(60_000))],
    ['of brackets in turn is refused', 'invalid_json', pet('[{'.repeat(30_000))],
    ['of U+0000 is refused', 'invalid_json', post(PETS, Buffer.alloc(65_536))],
    ['of 0xFF is refused', 'invalid_json', post(PETS, Buffer.alloc(65_536, 0xff))],
    [
      'that is not UTF-8 at its last byte is refused',
      'invalid_json',
      post(PETS, Buffer.concat([Buffer.alloc(65_535, 0x20), Buffer.of(0xff)])),
    ],
  ],
  'a body where none is expected': [
    ...['/v1/store/orders/9/complete', '/v1/store/orders/9/cancel'].flatMap((target): Case[] => [
      [`of bytes is ignored by ${target}`, 'not_found', post(target, Buffer.alloc(1_000, 0xff))],
      [`of no JSON is ignored by ${target}`, 'not_found', post(target, '{')],
      [`of deep JSON is ignored by ${target}`, 'not_found', post(target, '['.repeat(10_000))],
      [`of __proto__ is ignored by ${target}`, 'not_found', post(target, '{"__proto__":{}}')],
      [
        `of another type is ignored by ${target}`,
        'not_found',
        post(target, 'a=b', 'Content-Type: x', 'Content-Length: 3'),
      ],
    ]),
    ...['/v1/pets/-9', '/v1/store/orders', '/v1/store/orders/9', '/v1/messages/x', '/v1/rate_limit'].map(
      (target): Case => [
        `of no JSON is ignored by GET ${target}`,
        target === '/v1/store/orders' || target === '/v1/rate_limit' ? 200 : 'not_found',
        `${get(target, JSON_TYPE, 'Content-Length: 1')}{`,
      ],
    ),
    ...['/v1/pets/1', '/v1/rate_limit', '/v1/messages/x'].map((target): Case => [
      `of POST is refused with its method by ${target}`,
      'method_not_allowed',
      `${ask('POST', target, JSON_TYPE, 'Content-Length: 1')}{`,
    ]),
  ],
});
