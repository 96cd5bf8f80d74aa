export * from './begin-session.js';
export * from './end-session.js';
export * from './renew-session.js';
export * from './resume-session.js';
