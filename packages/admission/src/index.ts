export { Admission, type AnsweredRequest, type Credentials, type Judgement, resetSeconds } from './admission.js';
export { admit, type Admitted, type Refused, type RequestFacts } from './admit.js';
export { networkOf } from './network.js';
export { LIMIT_STATUSES, LimitExceeded, refusalHeaders } from './refusal.js';
