import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';

export interface ReceivedMail {
  /** The addresses of the envelope. */
  readonly from: string;
  readonly to: readonly string[];
  /** In order, with lower-case names and unfolded values. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The value of the header. The mail must not have two of that name. */
  readonly header: (name: string) => string | undefined;
  /** The decoded body, byte for byte. */
  readonly body: string;
  /** The bytes as received. */
  readonly raw: string;
}

/** A fault of the sink: where it happens and what it does. */
export interface Trouble {
  readonly at: 'greeting' | 'login' | 'recipient' | 'data';
  /** An SMTP code refuses, 'cutting' closes the connection, 'hanging' never answers. */
  readonly by: number | 'cutting' | 'hanging';
  /** The words of a refusal, with the enhanced code if there is one. */
  readonly words?: string;
}

/** What a mail server offers. */
export interface SinkOffer {
  /** STARTTLS, with a self-signed certificate. Default: no. */
  readonly tls?: boolean;
  /** SMTPUTF8. Default: yes. Without it, a recipient beyond ASCII is refused. */
  readonly utf8?: boolean;
}

/** A mail server for tests that stores the mail it receives. */
export class SmtpSink {
  /** The mails that the sink has accepted. */
  readonly received: ReceivedMail[] = [];
  /** Complete mails received, including those it then refused. */
  offered = 0;
  /** Credentials of the clients that logged in; a login isn't required. */
  readonly logins: [name: string | undefined, password: string | null | undefined][] = [];
  /** The names by which clients have introduced themselves. */
  readonly names = new Set<string>();
  /** Connections so far. */
  connections = 0;
  mostAtOnce = 0;
  trouble: Trouble | undefined;
  private readonly sockets = new Map<string, Socket>();
  private held: (() => void)[] = [];

  private constructor(
    private server: SMTPServer,
    private readonly port: number,
  ) {}

  static async open(offer: SinkOffer = {}): Promise<SmtpSink> {
    const server = newServer(() => sink, offer);
    const sink: SmtpSink = new SmtpSink(server, await listen(server, 0));
    sink.follow();
    return sink;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  /** Stops the server and cuts its connections. */
  async close(): Promise<void> {
    this.resume();
    const closed = new Promise<void>((resolve) => {
      this.server.close(resolve);
    });
    this.cut();
    await closed;
  }

  /** Starts the closed server again at the same port. */
  async startAgain(): Promise<void> {
    this.server = newServer(() => this);
    await listen(this.server, this.port);
    this.follow();
  }

  cut(): void {
    for (const socket of this.sockets.values()) socket.destroy();
  }

  /** Ends the fault; connections that hung continue. */
  resume(): void {
    this.trouble = undefined;
    for (const goOn of this.held.splice(0)) goOn();
  }

  /** @internal */
  async take(stream: Readable, session: SMTPServerSession): Promise<void> {
    const { mailFrom, rcptTo } = session.envelope;
    const envelope = { from: mailFrom === false ? '' : mailFrom.address, to: rcptTo.map(({ address }) => address) };
    const bytes = await buffer(stream);
    this.offered += 1;
    await this.pass('data', session);
    this.received.push({ ...envelope, ...parse(bytes.toString('latin1')) });
  }

  /** @internal */
  async pass(place: Trouble['at'], { remotePort }: { readonly remotePort: number }): Promise<void> {
    if (this.trouble?.at !== place) return;
    const { by, words = 'not now' } = this.trouble;
    if (by === 'hanging') await new Promise<void>((resolve) => this.held.push(resolve));
    else {
      if (by === 'cutting') this.sockets.get(String(remotePort))?.destroy();
      throw Object.assign(new Error(words), { responseCode: by === 'cutting' ? 421 : by });
    }
  }

  private follow(): void {
    this.server.server.on('connection', (socket: Socket) => {
      const key = String(socket.remotePort);
      this.sockets.set(key, socket);
      this.connections += 1;
      this.mostAtOnce = Math.max(this.mostAtOnce, this.sockets.size);
      socket.once('close', () => this.sockets.delete(key));
    });
  }
}

function newServer(sink: () => SmtpSink, { tls = false, utf8 = true }: SinkOffer = {}): SMTPServer {
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: tls ? [] : ['STARTTLS'],
    disableReverseLookup: true,
    hideSMTPUTF8: !utf8,
    // Each refusal of a test has the enhanced code that the test gives it, or none.
    hideENHANCEDSTATUSCODES: true,
    onAuth({ username, password }, session, callback) {
      sink().logins.push([username, password]);
      sink()
        .pass('login', session)
        .then(() => {
          callback(null, { user: username });
        }, callback);
    },
    onConnect(session, callback) {
      answer(sink().pass('greeting', session), callback);
    },
    onMailFrom(_address, session, callback) {
      sink().names.add(session.hostNameAppearsAs);
      callback();
    },
    onRcptTo({ address }, session, callback) {
      const isUnfit = !utf8 && /[^ -~]/.test(address);
      answer(isUnfit ? Promise.reject(new Error('5.6.7 needs SMTPUTF8')) : sink().pass('recipient', session), callback);
    },
    onData(stream, session, callback) {
      answer(sink().take(stream, session), callback);
    },
  });
  // Either side may cut a connection; that isn't an error of the test.
  server.on('error', () => undefined);
  return server;
}

/** Tells the server what became of its client's command. */
function answer(work: Promise<void>, callback: (error?: Error | null) => void): void {
  work.then(() => {
    callback();
  }, callback);
}

async function listen(server: SMTPServer, port: number): Promise<number> {
  const listener = server.listen(port, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}

function parse(raw: string): Omit<ReceivedMail, 'from' | 'to'> {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]/g, ' ')
    .split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const header = (name: string) => {
    const values = headers.filter(([each]) => each === name.toLowerCase()).map(([, value]) => value);
    if (values.length > 1) throw new Error(`the mail has ${values.length} headers ${name}`);
    return values[0];
  };
  if (header('Content-Transfer-Encoding') !== 'base64') throw new Error('the mail is not in Base64');
  return { headers, header, body: Buffer.from(raw.slice(end + 4), 'base64').toString('utf8'), raw };
}
