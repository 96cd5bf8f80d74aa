import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { elementsOf, type JsonText } from './json-elements.js';
import { wholeCharacters } from './lines.js';

async function read(text: string | Buffer, size = 7): Promise<readonly JsonText[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
  }
  const found: JsonText[] = [];
  for await (const part of elementsOf(wholeCharacters(chunks()), 'animals')) found.push(...part);
  return found;
}
const values = async (text: string, size?: number) =>
  (await read(text, size)).map((element): unknown => JSON.parse(element.text));
const refusal = (line: number, message: string) => expect.objectContaining({ line, message });

describe('the elements of a JSON file', () => {
  it('are those that JSON.parse finds, however it is written and wherever its chunks end', async () => {
    const element = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(element),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom(undefined, 1, '\t'),
        fc.integer({ min: 1, max: 100 }),
        async (animals, around, space, size) => {
          const other = { ...around, before: [{ animals: [1] }], animals, after: [[{}], 'animals', [1, 2]] };
          expect(await values(JSON.stringify(other, null, space), size)).toEqual(JSON.parse(JSON.stringify(animals)));
          expect(await values(JSON.stringify(animals, null, space), size)).toEqual(JSON.parse(JSON.stringify(animals)));
          const lines = animals.map((each) => JSON.stringify(each, null, space)).join('\n');
          if (animals.length > 0 && animals.every((each) => !('animals' in each))) {
            expect(await values(lines, size)).toEqual(JSON.parse(JSON.stringify(animals)));
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('have the lines on which they begin', async () => {
    const text = '\ufeff{"animals":\r\n[\n{"a":\n"\\n"}, {\n}\n]}\n\n{"animals":[{"b":[]}]}\n{"c":\n1}';
    expect(await read(text)).toEqual([
      { line: 3, text: '{"a":\n"\\n"}' },
      { line: 4, text: '{\n}' },
      { line: 8, text: '{"b":[]}' },
      { line: 9, text: '{"c":1}' },
    ]);
  });

  it('are cut out of a text of any length, which is not held', async () => {
    async function* chunks() {
      yield Buffer.from('{"animals":[{}');
      for (let count = 0; count < 200_000; count += 1) yield Buffer.from(' , {"a":[{"b":"}"}]}');
      yield Buffer.from(']}');
    }
    let count = 0;
    for await (const part of elementsOf(wholeCharacters(chunks()), 'animals')) count += part.length;
    expect(count).toBe(200_001);
  });

  it.each([
    ['', 1, 'has no JSON text'],
    [' \n', 1, 'has no JSON text'],
    ['\nname,categoryId', 2, 'is not JSON'],
    ['[{}]]', 1, 'is not JSON'],
    ['[{},\n{"a":1}', 2, 'ends within a JSON text'],
    ['[{"a":"', 1, 'ends within a JSON text'],
    ['[{} {}]', 1, 'is not JSON around the animals'],
    ['[{},{},,{}]', 1, 'is not JSON around the animals'],
    ['[{},1]', 1, 'is not JSON around the animals'],
    ['[{},null]', 1, 'is not JSON around the animals'],
    ['{"animals":[{}],"a":1 2}', 1, 'is not JSON around the animals'],
    ['{"animals":[{}}}', 1, 'is not JSON around the animals'],
  ])('are refused in %j', async (text, line, reason) => {
    await expect(read(text)).rejects.toThrow(refusal(line, reason));
  });

  it.each([
    ['one of them', '[{"a":"', '"}]'],
    ['what is around them', '{"animals":[],"a":"', '"}'],
  ])('are refused if %s is too long', async (_what, begin, end) => {
    const text = `${begin}${'x'.repeat(2 ** 20)}${end}`;
    await expect(read(text, 2 ** 16)).rejects.toThrow(refusal(1, 'is longer than 1048576 bytes'));
  });

  it('are refused where they are not UTF-8', async () => {
    await expect(read(Buffer.from([0x5b, 0x0a, 0x22, 0xff, 0x22, 0x5d]))).rejects.toThrow(
      refusal(2, 'is not valid UTF-8'),
    );
  });
});
