import { BeginSession } from './begin-session.js';
import { EndAllSessions, EndSession } from './end-session.js';
import { RenewSession } from './renew-session.js';
import { ResumeSession } from './resume-session.js';

export const sessionUseCases = {
  beginSession: BeginSession,
  resumeSession: ResumeSession,
  renewSession: RenewSession,
  endSession: EndSession,
  endAllSessions: EndAllSessions,
};
