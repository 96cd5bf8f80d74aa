export * from './forwarding.js';
export * from './framing.js';
export * from './http-fault.js';
export * from './request-target.js';
export * from './route-table.js';
export * from './server-options.js';
export * from './socket-faults.js';
