import { exactJson } from './exact.js';

export const server = { baseUrl: '', key: '' };

/** The `mutator` of orval: sends each request of the generated functions. */
export async function send<Data>({
  url,
  method,
  headers,
  data,
}: {
  url: string;
  method: string;
  headers?: Record<string, string>;
  params?: object;
  data?: unknown;
  signal?: AbortSignal;
}): Promise<Data> {
  const response = await fetch(server.baseUrl + url, {
    method,
    headers: { ...headers, Authorization: `Bearer ${server.key}` },
    ...(data !== undefined && { body: exactJson.stringify(data) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return exactJson.parse(text) as Data;
}
