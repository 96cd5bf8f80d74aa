export * from './arguments.js';
export * from './settings.js';
export * from './environment.js';
export * from './service.js';
export * from './tell.js';
