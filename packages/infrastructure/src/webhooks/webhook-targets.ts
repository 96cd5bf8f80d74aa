import { invalid } from '@adoption-store/domain';
import ipaddr from 'ipaddr.js';
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** Where webhooks may go, besides public addresses by https. */
export interface WebhookPolicy {
  /** Networks that may be reached, also by http and at any port: `10.1.0.0/16`, or one address. */
  readonly allow?: readonly string[] | undefined;
  /** Whether `http://localhost` may be reached, to try webhooks out on one machine. */
  readonly mayUseLocalhost: boolean;
}

/** All addresses of a name. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

export interface WebhookTarget {
  readonly url: URL;
  /** The addresses that may be connected to; at least one. */
  readonly addresses: readonly LookupAddress[];
}

type Address = ReturnType<typeof ipaddr.parse>;
type Network = [Address, number];

/** IPv6 has no other global unicast addresses. ipaddr.js calls everything unicast that has no special meaning. */
const GLOBAL_UNICAST = network('2000::/3');
/** Azure's metadata, at an address that is public elsewhere. Those of other clouds are link-local, private or shared. */
const METADATA = network('168.63.129.16');

/** A name with thousands of addresses must not make us connect to all of them. */
const MOST_ADDRESSES = 8;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const HTTPS = 'must be a URL that starts with https://';

/** Decides where webhooks may go. */
export class WebhookTargets {
  private readonly allowed: Network[];

  constructor(
    private readonly policy: WebhookPolicy,
    private readonly resolve: ResolveName,
  ) {
    this.allowed = (policy.allow ?? []).map(network);
  }

  /**
   * Resolves the name once. The caller must connect to these addresses: a second look-up may have another result.
   *
   * @throws InvalidInput if the URL or all its addresses are refused, or if the name has none before `signal` is aborted.
   */
  async find(text: string, signal: AbortSignal): Promise<WebhookTarget> {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !(url.protocol in DEFAULT_PORTS)) throw invalid('url', HTTPS);
    if (url.username + url.password !== '') throw invalid('url', 'must have no user name and no password');
    // Parsing has written every spelling of an IPv4 address, such as 0x7f.1, as four decimal numbers.
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const found = isIP(host) === 0 ? await this.addressesOf(host, signal) : [host];
    const judged = found.slice(0, MOST_ADDRESSES).map((address) => ({
      ...{ address, family: isIP(address) },
      problem: this.problem(url, host, address),
    }));
    const addresses = judged.filter(({ problem }) => problem === undefined);
    if (addresses.length === 0) throw invalid('url', judged[0]?.problem ?? 'must have a host name that DNS knows');
    return { url, addresses };
  }

  private async addressesOf(host: string, signal: AbortSignal): Promise<readonly string[]> {
    const aborted = once(signal, 'abort').then(() => []);
    return Promise.race([this.resolve(host), aborted]).catch(() => []);
  }

  /** The rule that this address breaks. */
  private problem(url: URL, host: string, text: string): string | undefined {
    // The IPv4 address that a mapped one leads to.
    const address = ipaddr.process(text);
    if (isIn(this.allowed, address)) return undefined;
    const isLocal = this.policy.mayUseLocalhost && host === 'localhost' && address.range() === 'loopback';
    if (url.protocol !== 'https:' && !isLocal) return HTTPS;
    const port = Number(url.port === '' ? DEFAULT_PORTS[url.protocol] : url.port);
    if (port !== 443 && port < 1_024) return 'must have port 443, or one from 1024 to 65535';
    return isLocal || isPublic(ipaddr.parse(text)) ? undefined : 'must lead to a public address';
  }
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || isIn([METADATA], address)) return false;
  return address.kind() === 'ipv4' || isIn([GLOBAL_UNICAST], address);
}

function isIn(networks: Network[], address: Address): boolean {
  return ipaddr.subnetMatch(address, { networks }, 'none') === 'networks';
}

function network(text: string): Network {
  const [start = '', bits] = text.split('/');
  const address = ipaddr.parse(start);
  return [address, Number(bits ?? address.toByteArray().length * 8)];
}

/**
 * Asks the name servers itself. dns.lookup() would occupy one of the process's four threads until a name server of the
 * receiver's choice answers, so a few receivers could stop all look-ups, and the hashing of passwords.
 */
export async function resolveName(name: string): Promise<readonly string[]> {
  // RFC 6761 §6.3: not a question for DNS.
  if (name === 'localhost') return ['127.0.0.1', '::1'];
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}
