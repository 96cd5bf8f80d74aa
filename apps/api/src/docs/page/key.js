/** The key is only in this page's memory. */
let key = '';

export function withKey(request) {
  if (key !== '') request.headers.Authorization = `Bearer ${key}`;
  return request;
}

export function acceptKey() {
  const state = document.getElementById('key-state');
  document.getElementById('key-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const typed = event.target.elements.key.value.trim();
    const fault = faultIn(typed);
    key = fault === undefined ? typed : '';
    if (fault !== undefined) {
      showState(state, { text: `Not used: the key has ${fault}, which no key has.`, kind: 'bad' });
      return;
    }
    showState(state, { text: typed === '' ? 'Requests are sent without a key.' : 'Checking …' });
    if (typed === '') return;
    const found = await checked(typed);
    // The field may have another key by now.
    if (typed === key) showState(state, found);
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

function showState(state, { text, kind = '' }) {
  state.textContent = text;
  state.className = kind;
}

async function checked(typed) {
  try {
    const headers = { Authorization: `Bearer ${typed}` };
    const response = await fetch(new URL('v1/rate_limit', location), { headers, cache: 'no-store' });
    return verdict(response.status, await response.json());
  } catch {
    return { text: 'The key could not be checked: the API did not answer.', kind: 'bad' };
  }
}

function verdict(status, { plan, ban, message }) {
  if (status !== 200) return { text: `Not accepted: ${message}.`, kind: 'bad' };
  if (ban === null) return { text: `Valid, plan ${plan}.`, kind: 'good' };
  return {
    text: `Valid, plan ${plan}, but banned until ${new Date(ban.until * 1000).toLocaleTimeString()}.`,
    kind: 'bad',
  };
}
