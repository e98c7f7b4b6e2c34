/** How the config wants alerts to be worded: names, clocks, links and prefixes. Pure. */
import { createBoundedMap, getOrCreate } from '../../bounded-map.ts';
import { createGlobs } from '../../globs.ts';
import { isPathSegment } from '../../text.ts';
import { type Chains, withWellKnown } from '../chains.ts';
import type { ContentLink } from './content.ts';
import type { Finding } from './finding.ts';
import { readableName } from './foreign.ts';
import { NO_TEMPLATES, type Templates } from './template.ts';

export const PLACEHOLDERS = ['hash', 'chain', 'chainId', 'address', 'protocol', 'detector', 'id'] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];

export const PLACEHOLDER = /\{([A-Za-z]+)\}/g;

/** A link of the config's; `url` holds placeholders. */
interface LinkTemplate {
  label: string;
  url: string;
  /** Whether the protocol gets it. */
  isFor(protocol: string): boolean;
  /** The first of the detectors that fired which it is for; undefined if it is for none. Any, where it names none. */
  detectorIn(fired: readonly string[]): string | undefined;
}

export interface Presentation {
  chains: Chains;
  /** A detector's name for people. */
  detectorName(id: string): string;
  /** IANA name of the time zone in which the protocol's times are written. */
  timeZoneOf(protocol: string): string;
  /** What stands before the protocol's titles. */
  prefixOf(protocol: string): string | undefined;
  links: readonly LinkTemplate[];
  templates: Templates;
}

/** What the config says; every part has a default. */
export interface PresentationConfig {
  chains?: Chains;
  timeZone?: string;
  links?: readonly { label: string; url: string; protocols?: readonly string[]; detectors?: readonly string[] }[];
  alerts?: { detectorNames?: Readonly<Record<string, string>> };
  protocols?: { overrides?: Readonly<Record<string, { timeZone?: string; prefix?: string }>> };
}

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

type LinkConfig = NonNullable<PresentationConfig['links']>[number];

const linkTemplate = ({ label, url, protocols = [], detectors = [] }: LinkConfig): LinkTemplate => {
  const isProtocol = createGlobs(protocols);
  const isDetector = createGlobs(detectors);
  return {
    label,
    url,
    isFor: (protocol) => protocols.length === 0 || isProtocol(protocol),
    detectorIn: (fired) => (detectors.length === 0 ? (fired[0] ?? '') : fired.find((one) => isDetector(one))),
  };
};

/** Names of detectors that are remembered: the same ones come again and again. */
const NAMES = 500;

/** Without anything in the config: UTC, readable names of detectors, the well-known chains, no links and no prefixes. */
export const createPresentation = (
  { chains = {}, timeZone = 'UTC', links = [], alerts = {}, protocols = {} }: PresentationConfig = {},
  templates = NO_TEMPLATES,
): Presentation => {
  const { detectorNames = {} } = alerts;
  const { overrides = {} } = protocols;
  const names = createBoundedMap<string, string>(NAMES);
  return {
    chains: withWellKnown(chains),
    detectorName: (id) => getOrCreate(names, id, () => own(detectorNames, id) ?? readableName(id)),
    timeZoneOf: (protocol) => own(overrides, protocol)?.timeZone ?? timeZone,
    prefixOf: (protocol) => own(overrides, protocol)?.prefix,
    links: links.map(linkTemplate),
    templates,
  };
};

/** More would hide the first. */
const LINKS_MAX = 5;

const URL_MAX = 2000;

/**
 * Undefined where the alert lacks something that the template asks for: half a link leads nowhere. A name that is only dots
 * would lead elsewhere.
 */
const filled = (template: string, values: Record<Placeholder, string | undefined>): string | undefined => {
  let lacks = false;
  const url = template.replace(PLACEHOLDER, (_, name: string) => {
    const value = PLACEHOLDERS.some((one) => one === name) ? values[name as Placeholder] : undefined;
    if (value === undefined || !isPathSegment(value)) lacks = true;
    return encodeURIComponent((value ?? '').toWellFormed());
  });
  return lacks || url.length > URL_MAX || URL.parse(url)?.protocol !== 'https:' ? undefined : url;
};

/** The explorer, and the links of the config. `detectors`: ids of those that fired. */
export const linksOf = (
  { transaction, chain, contracts, ids }: Finding,
  { protocols, detectors }: { protocols: readonly string[]; detectors: readonly string[] },
  presentation: Presentation,
): ContentLink[] => {
  const [protocol = ''] = protocols;
  const values = {
    hash: transaction?.whole,
    chain: chain?.name,
    chainId: chain?.id,
    address: contracts.find(({ at }) => at !== undefined)?.at?.whole ?? '',
    protocol,
    id: ids[0] ?? '',
  };
  const configured = presentation.links.flatMap(({ label, url, isFor, detectorIn }) => {
    const detector = detectorIn(detectors);
    if (!protocols.some(isFor) || detector === undefined) return [];
    const whole = filled(url, { ...values, protocol: protocols.find(isFor) ?? protocol, detector });
    return whole === undefined ? [] : [{ label, url: whole }];
  });
  const explorer = transaction?.url?.startsWith('https:') ? [{ label: 'Check transaction', url: transaction.url }] : [];
  return [...explorer, ...configured].slice(0, LINKS_MAX);
};
