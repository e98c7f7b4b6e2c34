/** What hangs on one token or mail server: where that breaks, nobody hears of an alert, and no fallback helps. */
import { CHANNEL_KINDS, type Destination, isHuman } from '../../alert.ts';
import { kindFacts } from '../../channels/registry.ts';
import type { Config } from '../../config/schema.ts';
import { namesText } from '../../text.ts';
import type { RouteReview } from './review.ts';
import { fallbackRoutes, routeEntries, routeSettings, standInRoutes } from './routes.ts';

/** The key of the config on which all of these hang; undefined where they hang on several things, or there are none. */
const soleKey = (destinations: readonly Destination[]): string | undefined => {
  const keys = new Set(
    destinations.map(({ id, kind, address }) => {
      const { sharesSender, senderKey } = kindFacts(kind);
      return sharesSender(address) ? senderKey : id;
    }),
  );
  const [key] = keys;
  return keys.size === 1 && key?.includes('.') ? key : undefined;
};

/** Where the alerts of each protocol go, as far as it is known. */
type Led = ReadonlyMap<string, readonly Destination[]>;

/** Nothing was listed: only what the config says itself. */
const ledByConfig = ({ protocols }: Config, settings: ReturnType<typeof routeSettings>): Led =>
  new Map(
    Object.entries(protocols.overrides).flatMap(([name, { channels, extraChannels }]) =>
      channels === undefined ? [] : [[name, routeEntries([...channels, ...extraChannels], settings).destinations]],
    ),
  );

const ledByReview = (review: Pick<RouteReview, 'destinations' | 'protocolsOf'>): Led => {
  const protocolsOf = review.protocolsOf();
  const all = review.destinations().flatMap((one) => (protocolsOf.get(one.id) ?? []).map((name) => ({ name, one })));
  return new Map([...Map.groupBy(all, ({ name }) => name)].map(([name, own]) => [name, own.map(({ one }) => one)]));
};

const NAMED = 10;
const MEND = 'list a channel of another kind under fallback or watchdog.channels';

/** A sentence without its full stop for each token or mail server. `review`: what services list; left out: nobody asked. */
export const hangingOn = (config: Config, review?: Pick<RouteReview, 'destinations' | 'protocolsOf'>): string[] => {
  const settings = routeSettings(config);
  const fallback = fallbackRoutes(config, settings).destinations;
  const net = [...fallback, ...standInRoutes(config, settings).flat()];
  const netKey = soleKey(net);
  if (net.length > 0 && netKey === undefined) return [];
  const led = [...(review === undefined ? ledByConfig(config, settings) : ledByReview(review))];
  const byKey = Map.groupBy(led, ([, destinations]) => soleKey(destinations.filter(isHuman)));
  const isOnly = CHANNEL_KINDS.filter((kind) => isHuman({ kind }) && config.channels[kind] !== undefined).length === 1;
  const keys = netKey === undefined ? [...byKey.keys()] : [netKey];
  return keys.flatMap((key) => {
    const names = (byKey.get(key) ?? []).map(([name]) => name);
    if (key === undefined || (names.length === 0 && !(review === undefined && isOnly))) return [];
    const own = fallback.length === 0 ? ['', ''] : [' and the fallback', ', the fallback included,'];
    const what = names.length > 0 ? `Everything of ${namesText(names, NAMED)}${own[0]}` : `Everything${own[1]}`;
    const sender = CHANNEL_KINDS.map(kindFacts).find(({ senderKey }) => senderKey === key)?.setup.hangsOn;
    return [`${what} hangs on ${sender} (${key})${net.length === 0 ? ', and there is no fallback' : ''}: ${MEND}`];
  });
};

/** The same again and again: it is found out once for each listing. */
export const createHanging = (
  config: Config,
  review: Pick<RouteReview, 'destinations' | 'protocolsOf' | 'revision'>,
) => {
  let found: { revision: number; hanging: string[] } | undefined;
  return (): string[] => {
    const revision = review.revision();
    if (found?.revision !== revision) found = { revision, hanging: hangingOn(config, review) };
    return found.hanging;
  };
};
