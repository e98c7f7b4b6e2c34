/** Has the people of protocols that were changed at the service hear of it. */
import type { Logger } from 'pino';
import { type Destination, isHuman } from '../../alert.ts';
import { contentId } from '../../identity.ts';
import type { ChannelEntry } from '../../item.ts';
import type { Announce } from '../announcements/announce.ts';
import { brokenAmong } from '../outages/audience.ts';
import type { OutageStore } from '../outages/store.ts';
import { audienceOf, type ChangeRoutes, groupsOf, hasLostPeople, isOnlyHeld } from './audience.ts';
import type { Change } from './changes.ts';
import { differencesOf } from './describe.ts';
import { loudAmong } from './flapping.ts';
import { type ChangeWords, changesText } from './message.ts';

export interface NotifierDependencies {
  outages: Pick<OutageStore, 'get' | 'count'>;
  announce: Announce;
  fallback: readonly Destination[];
  /** Where alerts of a protocol go while the service lists these channels. */
  destinationsAt(protocol: string, channels: readonly ChannelEntry[]): readonly Destination[];
  isOpen(): Promise<(destination: Destination) => boolean>;
  /** By include and exclude. Changes of others are only remembered. */
  isIncluded(protocol: string): boolean;
  log: Pick<Logger, 'warn'>;
  now(): number;
}

export interface DescribedChange extends ChangeWords {
  change: Change;
  routes: ChangeRoutes;
}

export interface NotifiedChange extends DescribedChange {
  /** It was announced, or is for nobody; else it came and went too often. */
  isHeard: boolean;
}

/** Changes of one look that are logged one by one. */
const MOST_LOGGED = 20;

/** The same changes since the same version are the same announcement, whichever daemon finds them. */
const keyOf = (service: string, version: string, changes: readonly Change[]): string =>
  `${service} ${version} ${contentId(...changes.map((change) => JSON.stringify(change)).toSorted())}`;

const createDescribe =
  ({ destinationsAt }: NotifierDependencies) =>
  (change: Change): DescribedChange => {
    const { protocol, kind } = change;
    const routes: ChangeRoutes = {
      before: change.kind === 'new' ? [] : destinationsAt(protocol, change.before.channels),
      after: change.kind === 'vanished' ? [] : destinationsAt(protocol, change.after.channels),
    };
    const isCritical = hasLostPeople(change, routes);
    const isUnreadable = change.kind === 'vanished' && change.isUnreadable === true;
    return { change, routes, protocol, kind, isUnreadable, isCritical, differences: differencesOf(change) };
  };

/** Durable when it resolves. Gives how many announcements there are. */
const createSay =
  ({ outages, announce, fallback, now }: NotifierDependencies) =>
  async (
    service: string,
    version: string,
    news: readonly DescribedChange[],
    isOpen: (destination: Destination) => boolean,
  ): Promise<number> => {
    const broken = await brokenAmong(outages, [
      ...fallback,
      // There may be thousands of webhooks, and nobody asks whether they work.
      ...news.flatMap(({ routes: { before, after } }) => [...before, ...after].filter(isHuman)),
    ]);
    const isWell = (one: Destination): boolean => !broken(one);
    const groups = groupsOf(
      news.map((change) => ({
        change,
        audience: audienceOf({ ...change.routes, isCritical: change.isCritical, fallback, isOpen, isWell }),
      })),
    );
    for (const { destinations, changes } of groups) {
      const key = keyOf(
        service,
        version,
        changes.map(({ change }) => change),
      );
      await announce({ about: 'protocol.changed', key, message: changesText(service, changes) }, now(), destinations);
    }
    return groups.length;
  };

/** Both functions are durable when they resolve; they reject where Redis fails, and may then be called again. */
export const createNotifier = (dependencies: NotifierDependencies) => {
  const { outages, isIncluded, log } = dependencies;
  const describe = createDescribe(dependencies);
  const say = createSay(dependencies);

  /** Those that are for somebody. */
  const forPeople = (
    all: readonly DescribedChange[],
    isOpen: (destination: Destination) => boolean,
  ): DescribedChange[] =>
    all.filter(({ change, routes }) => isIncluded(change.protocol) && !isOnlyHeld(change, routes, isOpen));

  const write = (service: string, all: readonly DescribedChange[], announcements: number): void => {
    for (const { protocol, kind, isCritical, differences } of all.slice(0, MOST_LOGGED)) {
      const facts = { service, protocol, change: kind, isCritical, differences };
      log.warn(facts, 'the settings of a protocol were changed at the service');
    }
    log.warn({ service, protocols: all.length, announcements }, 'protocols were changed at the service');
  };

  return {
    changed: async (service: string, version: string, changes: readonly Change[]): Promise<NotifiedChange[]> => {
      if (changes.length === 0) return [];
      const all = changes.map(describe);
      const isOpen = await dependencies.isOpen();
      const found = forPeople(all, isOpen);
      const news = await loudAmong(service, found, outages);
      write(service, all, await say(service, version, news, isOpen));
      const loud = new Set(news.map(({ change }) => change));
      const quiet = new Set(found.map(({ change }) => change).filter((change) => !loud.has(change)));
      return all.map((one) => ({ ...one, isHeard: !quiet.has(one.change) }));
    },
    /** What came and went, in sum, now that it does so no more. */
    stayed: async (service: string, version: string, changes: readonly Change[]): Promise<void> => {
      if (changes.length === 0) return;
      const isOpen = await dependencies.isOpen();
      const all = forPeople(changes.map(describe), isOpen).map((one) => ({ ...one, hasStayed: true }));
      const announcements = await say(service, version, all, isOpen);
      const what = 'protocols that were changed too often to be announced have stayed as they are';
      log.warn({ service, protocols: all.length, announcements }, what);
    },
  };
};
