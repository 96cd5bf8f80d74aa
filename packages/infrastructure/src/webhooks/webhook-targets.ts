import { invalid, ours, ourText } from '@adoption-store/domain';
import ipaddr from 'ipaddr.js';
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/** The addresses that webhooks may have besides public ones by https. */
export interface WebhookPolicy {
  /** Networks that may be reached, also by http and at any port: `10.1.0.0/16`, or one address. */
  readonly allow?: readonly string[] | undefined;
  /** Whether `http://localhost` is allowed, to try webhooks out on one machine. */
  readonly mayUseLocalhost: boolean;
}

/** All addresses of a name. Gives up when the signal is aborted. */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface WebhookTarget {
  readonly url: URL;
  /** The addresses that may be connected to; at least one. */
  readonly addresses: readonly LookupAddress[];
}

type Address = ReturnType<typeof ipaddr.parse>;
type Network = [Address, number];

/** All global unicast addresses of IPv6. ipaddr.js also calls addresses `unicast` that are in no known range. */
const GLOBAL_UNICAST = network('2000::/3');
/**
 * Azure's internal services, at a public address. Other clouds use link-local, private or shared addresses for them.
 */
const METADATA = network('168.63.129.16');

/** The most addresses of a name that are tried: a name may have thousands. */
const MOST_ADDRESSES = 8;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const HTTPS = 'must be a URL that starts with https://';
const PORT = 'must have port 443, or one from 1024 to 65535';
/** Also the message for a name without any address. Otherwise a customer could find out which internal names exist. */
const PUBLIC = 'must lead to a public address: DNS does not know its host name, or the address is not public';

/** Decides which URLs webhooks may have, and to which addresses they lead. */
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
   * @throws InvalidInput if the URL or all its addresses are refused, or if the name has none before `signal` is
   * aborted.
   */
  async find(text: string, signal: AbortSignal): Promise<WebhookTarget> {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !(url.protocol in DEFAULT_PORTS)) throw invalid('url', ourText(HTTPS));
    if (url.username + url.password !== '') throw invalid('url', ours`must have no user name and no password`);
    // The URL parser writes every form of an IPv4 address, such as 0x7f.1, as four decimal numbers.
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const found = isIP(host) === 0 ? await this.resolve(host, signal) : [host];
    const addresses = found
      .slice(0, MOST_ADDRESSES)
      .filter((address) => this.mayReach(url, host, address))
      .map((address) => ({ address, family: isIP(address) }));
    if (addresses.length === 0) throw invalid('url', ourText(this.problem(url, host)));
    return { url, addresses };
  }

  private mayReach(url: URL, host: string, text: string): boolean {
    // An IPv4-mapped IPv6 address becomes the IPv4 address to which it leads.
    const address = ipaddr.process(text);
    if (isIn(this.allowed, address)) return true;
    if (!hasAllowedPort(url)) return false;
    if (this.isLocal(host) && address.range() === 'loopback') return true;
    return url.protocol === 'https:' && isPublic(ipaddr.parse(text));
  }

  /**
   * The rule that a URL without an allowed address breaks. It never depends on the addresses, which it would reveal.
   */
  private problem(url: URL, host: string): string {
    if (url.protocol !== 'https:' && !this.isLocal(host)) return HTTPS;
    return hasAllowedPort(url) ? PUBLIC : PORT;
  }

  private isLocal(host: string): boolean {
    return this.policy.mayUseLocalhost && host === 'localhost';
  }
}

export function portOf(url: URL): number {
  return Number(url.port === '' ? DEFAULT_PORTS[url.protocol] : url.port);
}

function hasAllowedPort(url: URL): boolean {
  const port = portOf(url);
  return port === 443 || port >= 1_024;
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
 * Asks the name servers without dns.lookup(), which would occupy one of the process's four threads until a name server
 * that the receiver controls answers. So a few receivers could stop all look-ups, and the hashing of passwords.
 */
export async function resolveName(
  name: string,
  signal: AbortSignal,
  servers?: readonly string[],
): Promise<readonly string[]> {
  // RFC 6761 §6.3: localhost must not be looked up in DNS.
  if (name === 'localhost') return ['127.0.0.1', '::1'];
  // One resolver per name, because cancelling ends all queries of a resolver.
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = () => {
    resolver.cancel();
  };
  signal.addEventListener('abort', cancel);
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  signal.removeEventListener('abort', cancel);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}
