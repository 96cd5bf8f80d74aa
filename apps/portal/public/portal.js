// Each page works without this.

for (const button of document.querySelectorAll('[data-copy]')) {
  // Only pages that are served over TLS, or by this machine, may write to the clipboard.
  if (!navigator.clipboard) break;
  const text = document.getElementById(button.dataset.copy).textContent;
  const label = button.firstChild;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const word = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not copied',
    );
    label.textContent = word;
    document.getElementById('status').textContent = word;
    setTimeout(() => (label.textContent = 'Copy'), 2000);
  });
}

// The token of the mail's link stands behind the #, which browsers send nowhere; nor is it to stay in the history.
const token = document.querySelector('[data-from-hash]');

function takeToken() {
  if (location.hash.length < 2) return;
  token.value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
}

if (token) {
  takeToken();
  // Of a link that is opened where the page is open already.
  addEventListener('hashchange', takeToken);
}

document.querySelector('.problems')?.focus();
