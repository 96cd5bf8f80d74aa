import { ours, ourText } from '@adoption-store/domain';
import { fragmentFault, MAX_TARGET_LENGTH } from './framing.js';
import { HttpFault } from './http-fault.js';
import { routableUrl } from './request-target.js';
import type { RouteTable } from './route-table.js';

export interface ParserError {
  /** The code of Node's HTTP parser, or of Node. */
  readonly code?: string;
  /** The bytes that were parsed. If a request arrived in several packets, the last packet. */
  readonly rawPacket?: unknown;
  readonly bytesParsed?: unknown;
}

/** The fault of a request that Node's parser could not parse, or that did not arrive in time. */
export function faultOfParser(error: ParserError, routes: RouteTable): HttpFault {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return isLongLine(error)
        ? new HttpFault('uri_too_long', ours`the URL must be at most ${MAX_TARGET_LENGTH} characters`)
        : new HttpFault('headers_too_large', ours`the headers are too large`);
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpFault('request_timeout', ours`the request was not complete in time`);
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new HttpFault('payload_too_large', ours`the chunk extensions are too large`);
    case 'HPE_INVALID_METHOD':
    case 'HPE_INVALID_CONSTANT': // a method that the parser knows from RTSP
      return unknownMethod(textOf(error), routes) ?? badRequest();
    default:
      return badRequest();
  }
}

function badRequest(): HttpFault {
  return new HttpFault('bad_request', ours`the request is not valid HTTP/1.1`);
}

/** The fault of an unknown method, if the request line is otherwise valid. */
function unknownMethod(text: string, routes: RouteTable): HttpFault | undefined {
  const target = /^[\w!#$%&'*+.^`|~-]+ (\S+) HTTP\/1\.[01]\r?\n/.exec(text)?.[1];
  if (target === undefined) return undefined;
  if (target.includes('#')) return fragmentFault();
  const methods = routes.methodsOf(routableUrl({ url: target }));
  const allow = (methods.length > 0 ? methods : routes.allMethods()).join(', ');
  return new HttpFault('method_not_allowed', ours`the method is not known, only ${ourText(allow)}`, { allow });
}

/** Whether the request line alone exceeds the limit. */
function isLongLine({ rawPacket }: ParserError): boolean {
  return Buffer.isBuffer(rawPacket) && /^\S+ [^\r\n]*$/.test(rawPacket.toString('latin1', 0, MAX_TARGET_LENGTH));
}

/** The packet, from the line at which the parser stopped. */
function textOf({ rawPacket, bytesParsed }: ParserError): string {
  if (!Buffer.isBuffer(rawPacket)) return '';
  const text = rawPacket.toString('latin1');
  return text.slice(text.lastIndexOf('\n', Number(bytesParsed) - 1) + 1);
}
