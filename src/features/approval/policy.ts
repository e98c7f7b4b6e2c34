/** Which destinations are open, where `destinations.gate` demands an approval of new ones. Pure. */
import { type Destination, isChannelKind } from '../../alert.ts';
import { kindFacts } from '../../channels/registry.ts';
import { createGlobs } from '../../globs.ts';
import type { ChannelEntry } from '../../item.ts';
import { ownEntries, type RouteSettings, routeEntries } from '../routes/routes.ts';

export interface ApprovalSettings {
  /** `destinations.gate`. False: every destination is open. */
  gate: boolean;
  /** `KIND:GLOB` each, see `fitsEntry`. */
  allow: readonly string[];
  /** Ids of the destinations that the operator's own config names. */
  trusted: ReadonlySet<string>;
}

export type IsOpen = (destination: Destination) => boolean;

type Fits = (address: string) => boolean;

const WEB = /^(https?):\/\/([^/]*)(.*)$/is;

/** What servers decode before they look for a file, some of them more than once. */
const DECODED: Readonly<Record<string, string>> = { '2e': '.', '2f': '/', '5c': '/', '3b': ';' };

/**
 * Whether a server may read the path as one that leads out of a directory, as of `/team/..%2fother`. The URL itself has no
 * plain `..` left.
 */
const mayClimb = (path: string): boolean => {
  const decoded = path.replace(/%(?:25)*(2e|2f|5c|3b)/gi, (_, code: string) => DECODED[code.toLowerCase()] ?? '');
  return decoded.split('/').some((segment) => /^\.\.(;|$)/.test(segment));
};

/**
 * Matches a web address by host and path, each with a glob of its own: the `*` of `*.example.com/*` must not match across
 * a slash and make a foreign host fit. Without a path every path fits; http has to be spelled out.
 */
const fitsWeb = (glob: string): Fits => {
  const [, scheme = 'https', hostGlob = '', pathGlob = ''] =
    WEB.exec(/^https?:\/\//i.test(glob) ? glob : `https://${glob}`) ?? [];
  const isHost = createGlobs([hostGlob], { ignoreCase: true });
  const isIn = createGlobs([pathGlob]);
  const isPath = ({ pathname, search }: URL) => pathGlob === '' || (isIn(pathname + search) && !mayClimb(pathname));
  return (address) => {
    const url = URL.parse(address);
    return url?.protocol === `${scheme.toLowerCase()}:` && isHost(url.host) && isPath(url);
  };
};

/** Which destinations one entry of `allow` opens. Case is ignored where the kind ignores it in addresses. */
const fitsEntry = (entry: string): IsOpen => {
  const [kind = '', ...rest] = entry.split(':');
  const glob = rest.join(':');
  const isPlain = createGlobs([glob], { ignoreCase: isChannelKind(kind) && kindFacts(kind).ignoresCase });
  const isWeb = fitsWeb(glob);
  return (destination) =>
    destination.kind === kind && (WEB.test(destination.address) ? isWeb : isPlain)(destination.address);
};

interface Named {
  fallback?: { channels: readonly ChannelEntry[] } | undefined;
  watchdog: { channels?: readonly ChannelEntry[] | undefined };
}

/** Ids of the destinations that the config itself names: for a protocol, as the fallback, or for the watchdog. */
export const trustedBy = ({ fallback, watchdog }: Named, settings: RouteSettings): ReadonlySet<string> => {
  const named = [...ownEntries(settings), ...(fallback?.channels ?? []), ...(watchdog.channels ?? [])];
  return new Set(routeEntries(named, settings).destinations.map(({ id }) => id));
};

export const createApprovalPolicy = ({ gate, allow, trusted }: ApprovalSettings) => {
  const entries = allow.map(fitsEntry);
  return (approved: ReadonlySet<string>): IsOpen =>
    (destination) =>
      !gate ||
      trusted.has(destination.id) ||
      approved.has(destination.id) ||
      entries.some((isOpen) => isOpen(destination));
};
