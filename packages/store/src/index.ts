export { openStore, type Store } from './open-store.js';
export { type OpenedApp, runApp } from './run-app.js';
