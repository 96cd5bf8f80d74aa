import { SECOND } from '@adoption-store/domain';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectSecurely } from 'node:tls';
import { portOf, type WebhookTarget } from './webhook-targets.js';

/** Milliseconds after which the next address of a name is tried. */
const NEXT_ADDRESS = 2 * SECOND;

export interface ConnectionOptions {
  readonly signal: AbortSignal;
  /** A certificate that is trusted instead of the public ones. */
  readonly ca: string | undefined;
  /** The connection is destroyed when more bytes have been read from the network. */
  readonly mostBytes: number;
}

/**
 * Runs work with a connection to one of the checked addresses, and destroys the connection. A new one for each attempt,
 * so that none to an earlier address is reused.
 */
export async function withConnection<Result>(
  { url, addresses }: WebhookTarget,
  { signal, ca, mostBytes }: ConnectionOptions,
  work: (connection: Duplex) => Promise<Result>,
): Promise<Result> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const socket = connect({
    host,
    port: portOf(url),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS,
    // Connects to the checked addresses, and doesn't resolve the name again: it could lead elsewhere by now.
    lookup: (_name, _options, callback) => {
      callback(null, [...addresses]);
    },
  });
  try {
    await once(socket, 'connect', { signal });
    limit(socket, mostBytes);
    return await work(url.protocol === 'https:' ? await secure(socket, host, { signal, ca }) : socket);
  } finally {
    socket.destroy();
  }
}

/** Whoever waits for the connection learns of its errors. Without a listener, a later one would end the process. */
const ignore = () => undefined;

/** Counts whatever comes from the network: a head, a body, what is between its chunks, or the records of TLS. */
function limit(socket: Socket, most: number): void {
  socket.on('error', ignore).on('data', () => {
    if (socket.bytesRead > most) socket.destroy(new Error(`the response is longer than ${most} bytes`));
  });
}

/** Resolves after the certificate was verified: nothing is sent before. */
async function secure(
  socket: Socket,
  host: string,
  { signal, ca }: Pick<ConnectionOptions, 'signal' | 'ca'>,
): Promise<Duplex> {
  // TLS would read a socket in C++, without any event. It reads another stream by its events.
  const counted = Duplex.from({ readable: socket, writable: socket }).on('error', ignore);
  const secured = connectSecurely({
    socket: counted,
    host,
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    ca,
    rejectUnauthorized: true,
  }).on('error', ignore);
  await once(secured, 'secureConnect', { signal });
  return secured;
}
