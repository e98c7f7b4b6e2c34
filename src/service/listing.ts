/** One key's listing of protocols, and of their assets, as far as it can be read. */
import type { JsonValue } from '../alert.ts';
import { type ServiceBound, ServiceError } from '../errors.ts';
import {
  type ChannelEntry,
  contentId,
  type ListedAsset,
  type ListedProtocol,
  type MalformedItem,
  MOST_PROTOCOLS,
} from '../item.ts';
import type { ServiceClient, ServiceClock } from './client.ts';
import { optional } from './fields.ts';
import { walkPages } from './paginate.ts';
import { nameOfListed, type Protocol } from './protocols.ts';
import { type Page, readAssessment } from './wire.ts';

interface Listable {
  client: Pick<ServiceClient, 'listProtocols' | 'pageSize'>;
  clock: Pick<ServiceClock, 'observe'>;
}

/** What decides who hears of a protocol, and of what. */
export type ListedSettings = Pick<Protocol, 'name' | 'channels' | 'triggers' | 'tracking' | 'detectors'>;

/** Of one protocol; a channel without contacts counts as one. */
const MOST_CONTACTS = 5000;
/** Of one protocol's channels, and of the other settings: what is large must leave room for the others. */
const MOST_OWN_CHARACTERS = 500_000;
/** No address is longer. */
const LONGEST_CONTACT = 4000;
const MOST_DETECTORS = 1000;
/** Characters of one that cannot be read. */
const MOST_RAW = 1000;
/** What is kept of one listing, as JSON. */
const MOST_CHARACTERS = 50_000_000;

const NOTIFICATION = 'notification';

const contactsOf = ({ channels }: Pick<Protocol, 'channels'>): number =>
  channels.reduce((sum, { contacts = [] }) => sum + Math.max(1, contacts.length), 0);

/** The first contacts, as many as there is room for, with the channels that they are in. */
const firstContacts = (channels: readonly ChannelEntry[]): ChannelEntry[] => {
  let room = MOST_CONTACTS;
  let characters = MOST_OWN_CHARACTERS;
  const fits = (text: string): boolean => {
    if (room <= 0 || text.length > Math.min(LONGEST_CONTACT, characters)) return false;
    room -= 1;
    characters -= text.length;
    return true;
  };
  return channels.flatMap((channel) => {
    const { name, url = '', contacts = [] } = channel;
    if (`${name}${url}`.length > LONGEST_CONTACT) return [];
    if (contacts.length === 0) return fits(`${name}${url}`) ? channel : [];
    const kept = contacts.filter(fits);
    return kept.length === 0 && url === '' ? [] : { ...channel, contacts: kept };
  });
};

/** Enough of something large to see that it changed. */
const digestOf = (value: JsonValue): string => {
  const json = JSON.stringify(value);
  return `${json.length} characters (${contentId(json).slice(0, 8)})`;
};

const isLarge = (value: object): boolean => JSON.stringify(value).length > MOST_OWN_CHARACTERS;

/** Where alerts go by what is listed. */
export const routesOf = ({ channels, triggers }: Pick<Protocol, 'channels' | 'triggers'>) => ({
  channels,
  notifyOn: Object.entries(triggers)
    .filter(([, { actions }]) => actions.includes(NOTIFICATION))
    .map(([severity]) => severity),
  triggers: Object.fromEntries(
    Object.entries(triggers).map(([severity, { detectionsGroup }]) => [readAssessment(severity), detectionsGroup]),
  ),
});

export type ListedRoutes = ReturnType<typeof routesOf>;

/** What could not be read, or not whole, with the protocol's name as far as it has one. */
type Malformed = MalformedItem & { name: string };

/** Of a large one its beginning is kept. */
const toMalformed = ({ raw, ...one }: MalformedItem): Malformed => {
  const json = JSON.stringify(raw);
  return { ...one, raw: json.length > MOST_RAW ? json.slice(0, MOST_RAW) : raw, name: nameOfListed(raw) };
};

/** As much of a protocol as is used, and what of it is too large to be used whole. */
const bounded = (protocol: Protocol): { settings: ListedSettings; cut: Malformed[] } => {
  const { name, tracking } = protocol;
  const cut: Malformed[] = [];
  const say = (problem: string, bound: ServiceBound): void => {
    cut.push({ problem, raw: { descriptor: name }, name, bound });
  };
  const channels = firstContacts(protocol.channels);
  const [listed, kept] = [contactsOf(protocol), contactsOf({ channels })];
  if (kept < listed) say(`${listed} contacts, of which the first ${kept} are used`, 'contacts');
  let { triggers, detectors } = protocol;
  if (isLarge(triggers)) {
    say('triggers that are too large to be compared one by one', 'listing-size');
    triggers = { critical: { detectionsGroup: [[digestOf(triggers)]], actions: [NOTIFICATION] } };
  }
  if (detectors !== undefined && (detectors.length > MOST_DETECTORS || isLarge(detectors))) {
    say('detectors that are too many or too large to be compared one by one', 'listing-size');
    detectors = [{ name: `${detectors.length} detectors`, config: digestOf(detectors) }];
  }
  return {
    settings: { name, channels, triggers, ...optional('tracking', tracking), ...optional('detectors', detectors) },
    cut,
  };
};

const toListed = ({ id }: Protocol, { name, ...settings }: ListedSettings): ListedProtocol => ({
  name,
  ...optional('protocolId', id),
  ...routesOf(settings),
});

const walkProtocols = ({ client, clock }: Listable, hideAssets: boolean, signal: AbortSignal) =>
  walkPages(
    async (pageNumber, pageSize) => {
      const page = await client.listProtocols({ pageNumber, pageSize, ...(hideAssets ? { hideAssets } : {}) }, signal);
      clock.observe(page.serverTime);
      return page;
    },
    ({ id, name }) => id ?? name,
    { pageSize: client.pageSize },
  );

type Pages = AsyncIterable<Page<Protocol>>;
/** Gives what it kept of a page. */
type Take = (page: Page<Protocol>) => unknown;

const tooMuch = (what: string, bound: ServiceBound): ServiceError =>
  new ServiceError('unreadable', `the listing has more than ${what}`, { bound });

/** Reads until the pages are too many or too large, or the service fails; gives why. Throws where not even one page came. */
const readAsFar = async (pages: Pages, take: Take): Promise<{ unfinished?: ServiceError }> => {
  let hasBegun = false;
  let room = MOST_PROTOCOLS;
  let characters = 0;
  try {
    for await (const { items, malformed } of pages) {
      hasBegun = true;
      const some = items.slice(0, room);
      const kept = take({ items: some, malformed: malformed.slice(0, room - some.length) });
      room -= items.length + malformed.length;
      if (room < 0) return { unfinished: tooMuch(`${MOST_PROTOCOLS} protocols`, 'protocols') };
      characters += JSON.stringify(kept).length;
      if (characters > MOST_CHARACTERS) return { unfinished: tooMuch(`${MOST_CHARACTERS} characters`, 'listing-size') };
    }
    return {};
  } catch (error) {
    if (!hasBegun || !(error instanceof ServiceError) || error.reason === 'aborted') throw error;
    return { unfinished: error };
  }
};

/** Without their assets, which may be many. `settings`: of the same protocols. `unfinished`: why there may be more. */
export const listProtocols = async (service: Listable, signal: AbortSignal) => {
  const protocols: ListedProtocol[] = [];
  const settings: ListedSettings[] = [];
  const malformed: Malformed[] = [];
  const end = await readAsFar(walkProtocols(service, true, signal), (page) => {
    const read = page.items.map((protocol) => ({ protocol, ...bounded(protocol) }));
    const listed = read.map((one) => toListed(one.protocol, one.settings));
    const unread = [...page.malformed.map(toMalformed), ...read.flatMap(({ cut }) => cut)];
    protocols.push(...listed);
    settings.push(...read.map((one) => one.settings));
    malformed.push(...unread);
    return [listed, unread, read.map((one) => one.settings.detectors)];
  });
  return { protocols, settings, malformed, ...end };
};

export type Listing = Awaited<ReturnType<typeof listProtocols>>;

/** By protocol; those whose assets the service does not list are left out. */
export const listAssets = async (service: Listable, signal: AbortSignal) => {
  const listed = new Map<string, ListedAsset[]>();
  const end = await readAsFar(walkProtocols(service, false, signal), (page) => {
    const fresh = page.items.flatMap(({ name, assets }) => (assets === undefined ? [] : [[name, assets] as const]));
    // Several protocols of one name have the contracts of each.
    for (const [name, assets] of fresh) listed.set(name, [...(listed.get(name) ?? []), ...assets]);
    return fresh;
  });
  return { assets: listed, ...end };
};

export type Assets = Awaited<ReturnType<typeof listAssets>>;
