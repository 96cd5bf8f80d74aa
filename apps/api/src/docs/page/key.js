/** The key is only in this page's memory. */
let key = '';

export function withKey(request) {
  if (key === '') delete request.headers.Authorization;
  else request.headers.Authorization = `Bearer ${key}`;
  return request;
}

export function acceptKey() {
  const state = document.getElementById('key-state');
  const show = (textContent, className = '') => Object.assign(state, { textContent, className });
  document.getElementById('key-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const typed = event.target.elements.key.value.trim();
    const fault = faultIn(typed);
    key = fault === undefined ? typed : '';
    if (fault !== undefined) show(`Not used: the key has ${fault}, which no key has.`, 'bad');
    else if (typed === '') show('Requests are sent without a key.');
    else {
      show('Checking …');
      const found = await checked(typed);
      // The field may have another key by now.
      if (typed === key) show(...found);
    }
  });
}

/** Named here, because `fetch` doesn't send some of these, and fails as if the API did not answer. */
function faultIn(typed) {
  const [wrong] = /[^\x21-\x7e]/u.exec(typed) ?? [];
  if (wrong === undefined) return undefined;
  const code = `U+${wrong.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  if (/[\r\n\u2028\u2029]/.test(wrong)) return `a line end (${code})`;
  if (/\s/.test(wrong)) return `a blank (${code})`;
  if (/[\p{C}\p{Default_Ignorable_Code_Point}]/u.test(wrong)) return `an invisible character (${code})`;
  return `a character that is not ASCII (${code})`;
}

async function checked(typed) {
  try {
    const headers = { Authorization: `Bearer ${typed}` };
    const response = await fetch(new URL('v1/rate_limit', location), { headers, cache: 'no-store' });
    return verdict(response.status, await response.json());
  } catch {
    return ['The key could not be checked: the API did not answer.', 'bad'];
  }
}

function verdict(status, { plan, ban, message }) {
  if (status !== 200) return [`Not accepted: ${message}.`, 'bad'];
  if (ban === null) return [`Valid, plan ${plan}.`, 'good'];
  const end = new Date(ban.until * 1000).toLocaleTimeString();
  return [`Valid, plan ${plan}, but banned until ${end}.`, 'bad'];
}
