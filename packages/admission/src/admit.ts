import { type Caller, DomainError, type Scope, UnusableKey } from '@adoption-store/domain';
import type { Admission, AnsweredRequest, Credentials, Judgement, LimitHeaders } from './admission.js';
import { LimitExceeded, refusalHeaders, statusOf } from './refusal.js';

/** What an app knows of a request before it is admitted. */
export interface RequestFacts {
  /** Names and values in turn, as in Node's `rawHeaders`. */
  readonly rawHeaders: readonly string[];
  /** The client's address, as `web/edge` finds it behind proxies. */
  readonly address: string;
  /** The name of the operation, as the account's holder sees it. */
  readonly operation: string;
  /** Without a key, because it is shown and stored. */
  readonly requestId: string;
}

export interface Admitted {
  readonly isAdmitted: true;
  readonly caller: Caller;
  /** The limit headers of the response. */
  readonly headers: LimitHeaders;
  /** To be called once, when the request is answered. `reason` is what of an error's message may be kept: `kept`. */
  readonly record: (answer: { readonly status: number; readonly code?: string; readonly reason?: string }) => void;
}

/** It is recorded already. */
export interface Refused {
  readonly isAdmitted: false;
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** The limit headers, and those of the refusal. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Takes all steps for a request that needs these scopes. Rejects only with a defect. */
export async function admit(
  admission: Admission,
  request: RequestFacts,
  scopes: readonly Scope[],
): Promise<Admitted | Refused> {
  const credentials = credentialsIn(request.rawHeaders);
  let known: AnsweredRequest = {};
  let judged: Judgement | undefined;
  try {
    const caller = await admission.authenticate(credentials);
    known = { caller };
    judged = await admission.meter(caller);
    known = { caller, verdict: judged.verdict };
    if (judged.refusal !== undefined) throw judged.refusal;
    admission.requireScopes(caller, scopes);
    return admitted(admission, request, caller, judged);
  } catch (thrown) {
    if (thrown instanceof UnusableKey) known = { unusableKey: thrown.owner };
    const isOfAddress = known.caller === undefined && thrown instanceof DomainError && thrown.kind !== 'unavailable';
    judged ??= await (isOfAddress ? admission.countAddress(request.address) : admission.peekAddress(request.address));
    const error = isOfAddress ? (judged.refusal ?? thrown) : thrown;
    if (!(error instanceof DomainError || error instanceof LimitExceeded)) throw error;
    const status = statusOf(error);
    if (status === undefined) throw error;
    const { code, message, kept } = error;
    const { operation, requestId } = request;
    admission.record({ ...known, error: { status, code, reason: kept, operation, requestId } });
    const headers = { ...judged.headers, ...refusalHeaders(error, credentials.authorization !== undefined) };
    return { isAdmitted: false, status, code, message, headers };
  }
}

function admitted(
  admission: Admission,
  { operation, requestId }: RequestFacts,
  caller: Caller,
  { verdict, headers }: Judgement,
): Admitted {
  const record: Admitted['record'] = ({ status, code, reason }) => {
    const error = code === undefined ? undefined : { status, code, reason, operation, requestId };
    admission.record({ caller, verdict, used: operation, error });
  };
  return { isAdmitted: true, caller, headers, record };
}

function credentialsIn(rawHeaders: readonly string[]): Credentials {
  const values = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'authorization',
  );
  return { authorization: values[0], isRepeated: values.length > 1 };
}
