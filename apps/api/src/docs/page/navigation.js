import { operationsOf } from './description.js';

const list = document.getElementById('groups');

/** Adds the operations by their groups, and a search over them. */
export function showNavigation(description, { layoutActions }) {
  list.append(...description.tags.map((tag) => groupOf(tag, description)));
  followWidth();
  acceptSearch();
  const follow = () => {
    const [, group, id] = location.hash.split('/');
    if (id !== undefined) {
      layoutActions.show(['operations-tag', group], true);
      layoutActions.show(['operations', group, id], true);
    }
    goToPlace();
  };
  addEventListener('hashchange', follow);
  list.addEventListener('click', ({ target }) => {
    // A second click on the same link doesn't change the hash.
    if (target.closest('a')?.hash === location.hash) follow();
  });
  if (location.hash !== '') follow();
}

/** The address names the operation that was opened last. */
export const addressOfOpened = {
  statePlugins: {
    layout: {
      wrapActions: {
        show: (original) => (key, isShown) => {
          if (isShown && key[0] === 'operations') markCurrent(`#/${key[1]}/${key[2]}`);
          return original(key, isShown);
        },
      },
    },
  },
};

function markCurrent(hash) {
  history.replaceState(null, '', hash);
  for (const link of list.querySelectorAll('a')) {
    if (link.hash === hash) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

/** Swagger UI may render the place some frames later. */
function goToPlace(frames = 60) {
  const [first, group, id] = location.hash.slice(1).split('/');
  const place = document.getElementById(id === undefined ? first : `operations-${group}-${id}`);
  if (place === null && frames > 0) requestAnimationFrame(() => goToPlace(frames - 1));
  if (!place?.matches('.about, .opblock')) return;
  if (place.matches('.about')) place.open = true;
  place.scrollIntoView();
  place.querySelector('.opblock-summary-control, summary')?.focus({ preventScroll: true });
}

/** A wide screen always shows the list. A narrow one shows it on demand. */
const wide = matchMedia('(width >= 60rem)');

function followWidth() {
  const menu = document.getElementById('menu');
  const follow = () => (menu.open = wide.matches);
  wide.addEventListener('change', follow);
  menu.addEventListener('click', ({ target }) => {
    if (target.matches('a, .method')) follow();
  });
  follow();
}

function groupOf({ name }, description) {
  const operations = operationsOf(description).filter(({ operation }) => operation.tags.includes(name));
  const items = operations.map((each) => itemOf(name, each));
  return element('li', { className: 'group' }, element('span', { textContent: name }), element('ul', {}, ...items));
}

function itemOf(group, { path, method, operation }) {
  const { operationId, summary } = operation;
  const badge = element('span', { className: `method ${method}`, textContent: method.toUpperCase() });
  const link = element(
    'a',
    { href: `#/${group}/${operationId}`, title: `${method.toUpperCase()} ${path}` },
    badge,
    ` ${summary}`,
  );
  const item = element('li', {}, link);
  item.dataset.words = [group, method, path, operationId, summary].join(' ').toLowerCase();
  return item;
}

function element(name, properties, ...children) {
  const created = Object.assign(document.createElement(name), properties);
  created.append(...children);
  return created;
}

function acceptSearch() {
  const field = document.getElementById('search');
  field.addEventListener('input', () => filter(field.value));
  field.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') list.querySelector('[data-words]:not([hidden]) a')?.click();
  });
}

function filter(searched) {
  const words = searched.toLowerCase().split(/\s+/);
  const items = [...list.querySelectorAll('[data-words]')];
  for (const item of items) item.hidden = !words.every((word) => item.dataset.words.includes(word));
  for (const group of list.children) group.hidden = !group.querySelector('li:not([hidden])');
  const found = items.filter(({ hidden }) => !hidden).length;
  const text = found === 1 ? '1 operation' : `${found} operations`;
  document.getElementById('found').textContent = searched.trim() === '' ? '' : text;
}
