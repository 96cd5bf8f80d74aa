import { operationsOf } from './description.js';

const list = document.getElementById('groups');

/** What is found by: its `names`, or, if no name matches, its `text`. */
const found = new Map();

/** Adds the operations by their groups, and a search over these and the rest of the page. */
export function showNavigation(description, { layoutActions }) {
  for (const { name } of description.tags) addGroup(name, operationItems(name, description));
  // Only a search shows these.
  addGroup('Errors', errorItems(), 'searched');
  addGroup('Received events', eventItems(description), 'searched');
  addGroup('Guide', guideItems(), 'searched');
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

/** A plugin of Swagger UI: the address names the operation that was opened last. */
export const withAddress = {
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
  for (const link of list.querySelectorAll('a')) link.ariaCurrent = link.hash === hash ? 'true' : null;
}

/** Swagger UI may render the place some frames later. */
function goToPlace(frames = 60) {
  const [first, group, id] = location.hash.slice(1).split('/');
  const place = document.getElementById(id === undefined ? first : `operations-${group}-${id}`);
  if (place === null && frames > 0) requestAnimationFrame(() => goToPlace(frames - 1));
  if (!place?.closest('details, .opblock')) return;
  for (let each = place.closest('details'); each; each = each.parentElement.closest('details')) each.open = true;
  place.scrollIntoView();
  place.querySelector('.opblock-summary-control, summary, a')?.focus({ preventScroll: true });
}

/** A wide screen always shows the list. A narrow one shows it on demand. */
function followWidth() {
  const wide = matchMedia('(width >= 60rem)');
  const menu = document.getElementById('menu');
  const follow = () => (menu.open = wide.matches);
  wide.addEventListener('change', follow);
  menu.addEventListener('click', ({ target }) => target.closest('a') && follow());
  follow();
}

function addGroup(name, items, kind = '') {
  const properties = { className: `group ${kind}`, hidden: kind !== '' };
  list.append(element('li', properties, element('span', { textContent: name }), element('ul', {}, ...items)));
}

function operationItems(group, description) {
  return operationsOf(description)
    .filter(({ operation }) => operation.tags.includes(group))
    .map(({ path, method, operation }) => {
      const { operationId, summary, parameters, security = [], description: text } = operation;
      const scopes = security.flatMap((each) => Object.values(each).flat());
      const names = [group, path, operationId, ...scopes, ...namesOf(parameters, description)];
      return itemOf({ href: `#/${group}/${operationId}`, badge: method, title: summary, names, text, hint: path });
    });
}

function eventItems(description) {
  return Object.entries(description.webhooks).map(([title, { post }]) => {
    const { operationId, parameters, description: text } = post;
    const names = ['event', 'webhook', operationId, ...namesOf(parameters, description)];
    return itemOf({ href: `#/webhooks/${operationId}`, title, names, text });
  });
}

/** The headings, each with what follows it. */
function guideItems() {
  return [...document.querySelectorAll('#guide [id]')].map((heading) => {
    const names = [];
    for (let each = heading.nextElementSibling; each && !each.id; each = each.nextElementSibling)
      names.push(each.textContent);
    return itemOf({ href: `#${heading.id}`, title: heading.textContent, names });
  });
}

function errorItems() {
  return [...document.querySelectorAll('#errors [id]')].map((term) => {
    const badge = term.closest('dd').previousElementSibling.textContent;
    return itemOf({ href: `#${term.id}`, badge, title: term.textContent, text: term.nextElementSibling.textContent });
  });
}

function namesOf(parameters, description) {
  return parameters.map(({ $ref, name }) => name ?? description.components.parameters[$ref.split('/').at(-1)].name);
}

/** @param names beside its title and badge */
function itemOf({ href, badge = '', title, names = [], text = '', hint = '' }) {
  const mark = element('span', { className: `method ${badge}`, textContent: badge.toUpperCase() });
  // A long code is broken only between its words.
  const words = title.split(/(?<=_)/).flatMap((word) => [word, element('wbr')]);
  const link = element('a', { href, title: hint }, ...(badge ? [mark, ' '] : []), element('span', {}, ...words));
  const item = element('li', {}, link);
  const named = [badge, title, ...names].join(' ').toLowerCase();
  found.set(item, { names: named, text: `${named} ${text.toLowerCase()}` });
  return item;
}

function element(name, properties, ...children) {
  const created = Object.assign(document.createElement(name), properties);
  created.append(...children);
  return created;
}

function acceptSearch() {
  const field = document.getElementById('search');
  field.addEventListener('input', () => filter(field.value.toLowerCase().split(/\s+/).filter(Boolean)));
  field.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') list.querySelector('.group:not([hidden]) li:not([hidden]) a')?.click();
  });
}

function filter(words) {
  const items = [...found];
  const matching = (part) => items.filter(([, of]) => words.every((word) => of[part].includes(word)));
  const named = matching('names');
  const shown = new Map(named.length > 0 ? named : matching('text'));
  for (const [item] of items) item.hidden = !shown.has(item);
  const isSearch = words.length > 0;
  for (const group of list.children)
    group.hidden = group.querySelector('li:not([hidden])') === null || (!isSearch && group.matches('.searched'));
  document.getElementById('starts').hidden = isSearch;
  document.getElementById('found').textContent = isSearch ? `${shown.size} found` : '';
}
