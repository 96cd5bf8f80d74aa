import { parse, stringify } from 'lossless-json';

/** JSON with bigints in the place of integers, exact to the last digit. */
export const exactJson = {
  parse: (text: string): unknown =>
    parse(text, undefined, (value) => (/^-?\d+$/.test(value) ? BigInt(value) : Number(value))),
  stringify: (value: unknown): string => stringify(value) ?? '',
};

/** For clients that call `response.json()`. */
export async function fetchExactly(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  response.json = async () => exactJson.parse(await response.text());
  return response;
}

/**
 * For clients that call `JSON.parse` and then `BigInt(String(value))`: integers that a double may round arrive as strings.
 * A string of the response is matched as a whole, so digits in it stay.
 */
export async function fetchQuoted(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  const text = (await response.text()).replace(/"(?:\\.|[^"\\])*"|-?\d{16,}/g, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  );
  return new Response(text === '' ? null : text, response);
}
