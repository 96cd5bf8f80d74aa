export * from './settings.js';
export * from './environment.js';
