// Every page works without this script.

function store(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Browsers may refuse to store anything; each page then knows only its own.
  }
}

function stored(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? undefined;
  } catch {
    return undefined;
  }
}

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

// Times are in the reader's own zone, or in UTC for a reader who has chosen that. Their forms are those of the service.
const MINUTE_OF_DAY = { hour: '2-digit', minute: '2-digit' };
const DAY_OF_YEAR = { day: 'numeric', month: 'short' };

function formatsIn(timeZone) {
  const format = (...options) => new Intl.DateTimeFormat('en-GB', Object.assign({ timeZone }, ...options));
  return {
    minute: format({ dateStyle: 'medium', timeStyle: 'short' }),
    date: format({ dateStyle: 'medium' }),
    moment: format({ dateStyle: 'medium', timeStyle: 'medium' }),
    second: format(DAY_OF_YEAR, MINUTE_OF_DAY, { second: '2-digit' }),
    hour: format(DAY_OF_YEAR, MINUTE_OF_DAY),
    day: format(DAY_OF_YEAR),
    clock: format(MINUTE_OF_DAY),
  };
}

const UTC = formatsIn('UTC');
const OWN = formatsIn();
const ownZone = OWN.minute.resolvedOptions().timeZone;
const zones = document.getElementById('zones');
const shapes = [...document.querySelectorAll('time[data-shape]:not([role=timer] *)')].map((time) => ({
  time,
  utc: time.textContent,
}));
const sinces = [...document.querySelectorAll('input[type=datetime-local]')];
const zoned = [
  ...document.querySelectorAll('[data-zone]'),
  ...sinces.flatMap(({ id, labels }) => [...labels, ...document.querySelectorAll(`.problems a[href="#${id}"]`)]),
];
/** Called after the zone has changed. */
const zoneListeners = [];
let isUtc = true;

/** The minute that the input's text is in UTC, in the other zone. Empty if it isn't one. */
function inZone(text, isFromUtc) {
  const date = new Date(isFromUtc ? `${text}Z` : text);
  if (Number.isNaN(date.getTime())) return text;
  const offset = isFromUtc ? date.getTimezoneOffset() * 60 * 1000 : 0;
  return new Date(date - offset).toISOString().slice(0, 16);
}

/** A time that a script tells. */
const clockText = (at) => (isUtc ? `${UTC.clock.format(at)} UTC` : OWN.clock.format(at));

function showZone(wantsUtc) {
  for (const input of sinces) if (wantsUtc !== isUtc) input.value = inZone(input.value, isUtc);
  isUtc = wantsUtc;
  for (const { time, utc } of shapes) {
    const { shape } = time.dataset;
    const at = new Date(time.dateTime);
    if (shape === 'relative') time.textContent = isUtc ? UTC.hour.format(at) : utc;
    else time.textContent = isUtc ? utc : OWN[shape].format(at);
    time.title = isUtc ? `${OWN.minute.format(at)}, your time` : `${UTC.minute.format(at)} UTC`;
  }
  for (const element of zoned)
    element.textContent = element.textContent.replace(/\((UTC|your time)\)/, isUtc ? '(UTC)' : '(your time)');
  document.getElementById('zone').textContent = isUtc ? 'UTC' : `your time zone, ${ownZone}`;
  zones.textContent = isUtc ? 'Show times in my time zone' : 'Show times in UTC';
  for (const tell of zoneListeners) tell();
}

if (ownZone !== 'UTC') {
  zones.hidden = false;
  zones.addEventListener('click', () => {
    showZone(!isUtc);
    store('isUtc', isUtc);
  });
  for (const input of sinces)
    input.form.addEventListener('formdata', ({ formData }) => {
      if (!isUtc) formData.set(input.name, inZone(input.value, false));
    });
  showZone(stored('isUtc') === true);
}

// The token of a mailed link is after the #, which browsers don't send. It is removed from the history here.
const token = document.querySelector('[data-from-hash]');

function takeToken() {
  if (location.hash.length > 1) {
    token.value = location.hash.slice(1);
    history.replaceState(null, '', location.pathname);
  }
  // Nobody has to read or change it, unless it was refused.
  token.closest('.field').hidden = token.value !== '' && !token.hasAttribute('aria-invalid');
}

if (token) {
  takeToken();
  // A link may be opened in a tab that already shows the page.
  addEventListener('hashchange', takeToken);
}

// Counts down to the end of each window, by the service's clock: the visitor's may be wrong.
for (const timer of document.querySelectorAll('[data-until]')) {
  const { until, now } = timer.dataset;
  const ahead = Date.now() - now;
  const tick = () => {
    const seconds = Math.ceil((until - Date.now() + ahead) / 1000);
    const [unit, length] = seconds < 60 ? ['s', 1] : seconds < 7200 ? ['min', 60] : ['h', 3600];
    const time = timer.firstChild;
    const isOver = seconds <= 0;
    time.textContent = isOver ? 'now: reload the page' : `in ${Math.ceil(seconds / length)} ${unit}`;
    if (!isOver) setTimeout(tick, 1000);
  };
  tick();
}

// The values of a chart's bar, at the pointer and at the arrow keys.
for (const bars of document.querySelectorAll('[data-values]')) {
  const values = bars.dataset.values.split('\n');
  const { start, unit } = bars.dataset;
  /** Hours are in the reader's zone. The days are those of the limits, which are in UTC. */
  const periodOf = (place) => {
    const hours = unit === 'hour' ? place : 24 * place;
    const at = Number(start) + hours * 60 * 60 * 1000;
    return unit === 'hour' ? (isUtc ? UTC : OWN).hour.format(at) : `${UTC.day.format(at)} (UTC)`;
  };
  const textOf = (place) => `${periodOf(place)}: ${values[place]}`;
  const shown = bars.closest('.chart').querySelector('.value');
  const mark = bars.querySelector('.mark');
  let at = values.length - 1;
  const show = (place) => {
    at = Math.min(Math.max(place, 0), values.length - 1);
    mark.setAttribute('x', at);
    mark.setAttribute('visibility', 'visible');
    shown.textContent = textOf(at);
    bars.setAttribute('aria-valuenow', at);
    bars.setAttribute('aria-valuetext', textOf(at));
  };
  bars.setAttribute('role', 'slider');
  bars.setAttribute('tabindex', 0);
  bars.setAttribute('aria-valuemax', at);
  bars.setAttribute('aria-valuenow', at);
  bars.setAttribute('aria-valuetext', textOf(at));
  zoneListeners.push(() => {
    if (shown.textContent.includes(':')) show(at);
    else bars.setAttribute('aria-valuetext', textOf(at));
  });
  bars.addEventListener('focus', () => show(at));
  const point = ({ clientX }) => {
    const { left, width } = bars.getBoundingClientRect();
    show(Math.floor(((clientX - left) / width) * values.length));
  };
  bars.addEventListener('pointermove', point);
  // A finger may tap without moving. The focus comes first, and shows the last bar.
  bars.addEventListener('click', point);
  bars.addEventListener('keydown', (event) => {
    const place = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: values.length - 1 }[event.key];
    if (place === undefined) return;
    event.preventDefault();
    show(place);
  });
}

document.querySelector('.problems')?.focus();

// Warns two minutes before the session ends, in a dialog and above each form. All tabs of the browser share the session:
// each page and each extension stores its person and its end, and the latest one counts.
const dialog = document.getElementById('session');
const WARNING = 2 * 60 * 1000;
const KEY = 'session';

function keepSession({ left, most }) {
  const now = Date.now();
  dialog.asked = now;
  dialog.times = { person: dialog.dataset.person, ends: now + left, last: now + most };
  store(KEY, dialog.times);
}

const sessionTimes = () => stored(KEY) ?? dialog.times;

/** Shows what belongs to a state: `soon`, `last`, `over`, or nothing. */
function showParts(when) {
  for (const part of document.querySelectorAll('[data-when]')) {
    part.hidden = !part.dataset.when.split(' ').includes(when);
    if (part.matches('h2') && !part.hidden) dialog.setAttribute('aria-labelledby', part.id);
  }
}

function showEnd() {
  for (const part of document.querySelectorAll('[data-ends]')) part.textContent = clockText(sessionTimes().ends);
}

/** Shows one state, unless it is shown already. A person may have closed its dialog. */
function showSession(when) {
  const { ends } = sessionTimes();
  const state = when === 'over' ? when : `${when} ${ends}`;
  if (dialog.shown === state) return;
  showParts(when);
  showEnd();
  dialog.querySelector('[role=alert]').hidden = true;
  dialog.shown = state;
  if (!dialog.open) dialog.showModal();
  // The next key of a person who is typing must not leave the page.
  dialog.querySelector(when === 'soon' ? '[data-stay]' : '[data-close]').focus();
}

function watchSession() {
  clearTimeout(dialog.timer);
  const { person, ends, last } = sessionTimes();
  // A form is refused, too, if somebody else has signed in.
  const left = person === dialog.dataset.person ? ends - Date.now() : 0;
  if (left <= 0) {
    showSession('over');
    return;
  }
  if (left > WARNING) {
    dialog.close();
    dialog.shown = undefined;
    showParts();
  } else showSession(last > ends ? 'soon' : 'last');
  dialog.timer = setTimeout(watchSession, left > WARNING ? left - WARNING : left);
}

async function staySignedIn() {
  const answer = await fetch('/session').catch(() => undefined);
  if (answer?.status === 401) showSession('over');
  else if (answer?.ok) {
    keepSession(await answer.json());
    watchSession();
  } else dialog.querySelector('[role=alert]').hidden = false;
}

/** The browser may have lost the session's cookie, which scripts can't read. Asks before somebody fills in a form. */
function askBeforeTyping({ target }) {
  // A person who was told already knows.
  if (dialog.shown !== undefined || !target.matches('.field *') || Date.now() - dialog.asked < 60 * 1000) return;
  dialog.asked = Date.now();
  void staySignedIn();
}

if (document.querySelector('[data-signed-out]')) store(KEY, {});

if (dialog) {
  const formWarning = document.getElementById('form-warning').content;
  for (const form of document.querySelectorAll('form[method=post]'))
    if (form.querySelector('.field')) form.before(formWarning.cloneNode(true));
  keepSession({ left: Number(dialog.dataset.left), most: Number(dialog.dataset.most) });
  dialog.querySelector('[data-stay]').addEventListener('click', staySignedIn);
  dialog.querySelector('[data-close]').addEventListener('click', () => dialog.close());
  addEventListener('storage', ({ key }) => key === KEY && watchSession());
  // Timers stop while a computer sleeps.
  addEventListener('visibilitychange', () => document.hidden || watchSession());
  addEventListener('focusin', askBeforeTyping);
  zoneListeners.push(showEnd);
  watchSession();
}

document.getElementById('no-cookies').hidden = navigator.cookieEnabled;

// A page that could not be shown is loaded again once the service is back.
const fault = document.querySelector('[data-retry-after]');

async function comeBack(wait) {
  const isBack = await fetch('/readyz').then(
    ({ ok }) => ok,
    () => false,
  );
  if (isBack) location.reload();
  else setTimeout(comeBack, wait, wait);
}

if (fault) {
  fault.setAttribute('role', 'status');
  fault.textContent = 'This page reloads when the service is back.';
  const wait = fault.dataset.retryAfter * 1000;
  setTimeout(comeBack, wait, wait);
}
