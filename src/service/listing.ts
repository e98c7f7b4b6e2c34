/** One key's listing of protocols, and of their assets, as far as it can be read. */
import { type ServiceBound, ServiceError } from '../errors.ts';
import {
  type ChannelEntry,
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
/** What is kept of one listing, as JSON. */
const MOST_CHARACTERS = 50_000_000;

const NOTIFICATION = 'notification';

const weightOf = ({ contacts = [] }: ChannelEntry): number => Math.max(1, contacts.length);

const contactsOf = ({ channels }: Pick<Protocol, 'channels'>): number =>
  channels.reduce((sum, channel) => sum + weightOf(channel), 0);

/** The first `MOST_CONTACTS` contacts, with the channels that they are in. */
const firstContacts = (channels: readonly ChannelEntry[]): ChannelEntry[] => {
  let room = MOST_CONTACTS;
  return channels.flatMap((channel) => {
    if (room <= 0) return [];
    const { contacts } = channel;
    const cut = contacts === undefined ? channel : { ...channel, contacts: contacts.slice(0, room) };
    room -= weightOf(channel);
    return cut;
  });
};

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

const toListed = ({ id, name, channels, triggers }: Protocol): ListedProtocol => ({
  name,
  ...optional('protocolId', id),
  ...routesOf({ channels: firstContacts(channels), triggers }),
});

const toSettings = (
  { name, triggers, tracking, detectors }: Protocol,
  { channels }: Pick<ListedProtocol, 'channels'>,
): ListedSettings => ({
  ...{ name, channels, triggers },
  ...optional('tracking', tracking),
  ...optional('detectors', detectors),
});

/** What could not be read, or not whole, with the protocol's name as far as it has one. */
type Malformed = MalformedItem & { name: string };

/** A protocol that names more contacts than are used. */
const crowdedOf = (protocol: Protocol): Malformed[] => {
  const { name } = protocol;
  const count = contactsOf(protocol);
  if (count <= MOST_CONTACTS) return [];
  const problem = `${count} contacts, of which the first ${MOST_CONTACTS} are used`;
  return [{ problem, raw: { descriptor: name }, name, bound: 'contacts' }];
};

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
    const listed = page.items.map(toListed);
    const unread = [
      ...page.malformed.map((one) => ({ ...one, name: nameOfListed(one.raw) })),
      ...page.items.flatMap(crowdedOf),
    ];
    protocols.push(...listed);
    settings.push(...page.items.map((protocol, index) => toSettings(protocol, listed[index] ?? protocol)));
    malformed.push(...unread);
    return [listed, unread, page.items.map(({ detectors }) => detectors)];
  });
  return { protocols, settings, malformed, ...end };
};

export type Listing = Awaited<ReturnType<typeof listProtocols>>;

/** By protocol; those whose assets the service does not list are left out. */
export const listAssets = async (service: Listable, signal: AbortSignal) => {
  const listed = new Map<string, ListedAsset[]>();
  const end = await readAsFar(walkProtocols(service, false, signal), (page) => {
    const fresh = page.items.flatMap(({ name, assets }) => (assets === undefined ? [] : [[name, assets] as const]));
    for (const [name, assets] of fresh) listed.set(name, assets);
    return fresh;
  });
  return { assets: listed, ...end };
};
