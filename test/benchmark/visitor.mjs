import { send } from './client.mjs';

/** Signs in to the portal. Returns the Cookie header of the session. */
export async function signIn(origin, email, password) {
  const cookies = new Map();
  const ask = async (sent) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await send(undefined, origin, { ...sent, headers: { ...sent.headers, cookie } });
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      cookies.set(name, value);
    }
    return answer;
  };
  const { text } = await ask({ path: '/sign-in' });
  const [, token] = /name="_csrf" value="([^"]+)"/.exec(text);
  const body = new globalThis.URLSearchParams({ _csrf: token, email, password }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { status } = await ask({ method: 'POST', path: '/sign-in', headers, body });
  if (status !== 303) throw new Error(`the sign-in was ${status}`);
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
}
