export { openStore, type Store, type StoreLog, type StoreSettings } from './open-store.js';
