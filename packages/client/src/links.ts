import LinkHeader from 'http-link-header';

/** The target of the link to the next page (RFC 8288), if there is one; null if the header is malformed. */
export function nextOf(headers: Headers): string | null | undefined {
  try {
    return LinkHeader.parse(headers.get('Link') ?? '').rel('next')[0]?.uri;
  } catch {
    return null;
  }
}
