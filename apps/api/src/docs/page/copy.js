const SHOWN = 2000;

/** Copy buttons: ours, and those of Swagger UI, which copies by itself and doesn't say so. */
export function copyOnClick() {
  document.addEventListener('click', async ({ target }) => {
    const button = target.closest('.copy, .copy-to-clipboard button');
    if (button === null) return;
    const isOurs = button.classList.contains('copy');
    say(button, isOurs ? await copy(button.parentElement.querySelector('code').textContent) : 'Copied');
  });
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied';
  } catch {
    // Browsers allow the clipboard only on pages from https or localhost.
    return 'Not copied';
  }
}

function say(button, word) {
  button.dataset.done = word;
  document.getElementById('status').textContent = word;
  setTimeout(() => delete button.dataset.done, SHOWN);
}
