/** Where these codes are explained further: sections of the quickstart. */
export const REFUSAL_SECTIONS: Readonly<Record<string, { readonly id: string; readonly title: string } | undefined>> = {
  rate_limited: { id: 'limits', title: 'Limits and errors' },
  daily_quota_exceeded: { id: 'limits', title: 'Limits and errors' },
  key_banned: { id: 'limits', title: 'Limits and errors' },
  gone: { id: 'deprecation', title: 'How we deprecate' },
};

/** For a code that is newer than this list. */
export const UNKNOWN_REFUSAL = 'The API reference explains this code.';
