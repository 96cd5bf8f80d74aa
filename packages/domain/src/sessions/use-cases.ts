export { BeginSession as beginSession } from './begin-session.js';
export { EndAllSessions as endAllSessions, EndSession as endSession } from './end-session.js';
export { RenewSession as renewSession } from './renew-session.js';
export { ResumeSession as resumeSession } from './resume-session.js';
