const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const GROUP = /^[0-9a-f]{1,4}$/i;
const GROUPS = 8;

/**
 * The network that counts as one client: of an IPv6 address its /64, because a client usually has it whole. A text that
 * is no address counts as it is.
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%', 1);
  if (IPV4.test(bare)) return bare;
  const groups = groupsOf(bare);
  if (groups === undefined) return address;
  const beginsWith = (...begin: readonly number[]) => begin.every((group, index) => groups[index] === group);
  if (beginsWith(0, 0, 0, 0, 0, 0, 0, 1)) return '::1';
  const mapped = groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]);
  if (beginsWith(0, 0, 0, 0, 0, 0xffff)) return mapped.join('.');
  // The zeros at the end are always the longest, so `::` stands for them.
  const network = groups.slice(0, 4);
  while (network.at(-1) === 0) network.pop();
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}

/** The eight groups of an IPv6 address. Undefined if it is none. */
function groupsOf(address: string): readonly number[] | undefined {
  const sides = address.split('::');
  if (sides.length > 2) return undefined;
  const [left = [], right = []] = sides.map((side, index) => partsOf(side, index === sides.length - 1));
  const missing = GROUPS - left.length - right.length;
  // `::` stands for at least one group.
  if (sides.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const all = [...left, ...Array.from({ length: missing }, () => '0'), ...right];
  return all.every((group) => GROUP.test(group)) ? all.map((group) => parseInt(group, 16)) : undefined;
}

/** Groups as they are written. At the end of an address an IPv4 address may stand for two of them. */
function partsOf(side: string, isEnd: boolean): readonly string[] {
  const parts = side === '' ? [] : side.split(':');
  const last = parts.at(-1);
  if (!isEnd || last === undefined || !IPV4.test(last)) return parts;
  const [a = 0, b = 0, c = 0, d = 0] = last.split('.').map(Number);
  return [...parts.slice(0, -1), ((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
}
