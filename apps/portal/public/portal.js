// Every page works without this script.

for (const button of document.querySelectorAll('[data-copy]')) {
  // Browsers allow the clipboard only on pages from https or localhost.
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

// The token of a mailed link is after the #, which browsers don't send. It is removed from the history here.
const token = document.querySelector('[data-from-hash]');

function takeToken() {
  if (location.hash.length < 2) return;
  token.value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
}

if (token) {
  takeToken();
  // A link may be opened in a tab that already shows the page.
  addEventListener('hashchange', takeToken);
}

document.querySelector('.problems')?.focus();
