/** Announces, over channels that work, that a destination is broken, that it works again, and that it has moved. */
import type { Logger } from 'pino';
import { type Alert, type Announcement, CHANNEL_KINDS, type Destination } from '../../alert.ts';
import type { Disabled } from '../../deliver/destinations.ts';
import { type Broken, type Circuits, type Subject, subjectId } from '../../deliver/health.ts';
import type { Routes } from '../../dispatch/dispatch.ts';
import { senderId } from '../../item.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Target } from '../../ledger/record.ts';
import { iso } from '../../time.ts';
import type { Announce } from '../announcements/announce.ts';
import { ANNOUNCED_AN_HOUR, type Announcer, type Group, lastLine } from '../conditions/announcer.ts';
import type { Outage, OutageStore } from '../conditions/outages.ts';
import { GROUPS, labelsOf } from '../conditions/store.ts';
import { brokenText, movedText, recoveredText, subjectName } from './message.ts';

interface OutageNotifierDependencies {
  outages: Pick<OutageStore, 'note' | 'get' | 'find' | 'count'>;
  announcer: Pick<Announcer, 'tell' | 'end'>;
  ledger: Pick<Ledger, 'waitingByDestination'>;
  deadLetters: Pick<DeadLetters, 'byDestination'>;
  announce: Announce;
  /** Who is to hear of it before the fallback is. */
  operators: readonly Destination[];
  /** The watchdog has announced already that this sender does not work, and will announce its end. */
  isSenderAnnounced(kind: Destination['kind']): Promise<boolean>;
  fallback: readonly Destination[];
  /** Where an alert goes, as far as it may be sent there. */
  routesOf(alert: Alert): Promise<Routes>;
  labelOf(kind: Destination['kind'], address: string): string;
  /** A destination with what its provider calls it. */
  named(destination: Destination): Promise<Destination & Pick<Target, 'name'>>;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  now(): number;
}

/** Who hears of an outage: never over what is itself broken. A consequence of a sender's outage waits for the end of that. */
const createGroup =
  ({ outages, routesOf }: Pick<OutageNotifierDependencies, 'outages' | 'routesOf'>) =>
  (id: string, alerts: readonly Alert[]): Group => ({
    ...{ name: GROUPS.broken, about: { begun: 'destination.broken', over: 'destination.well' } },
    people: async () => {
      const protocols = new Map(alerts.map((alert) => [JSON.stringify([alert.service, alert.protocol]), alert]));
      return (await Promise.all([...protocols.values()].map(routesOf))).flatMap(({ destinations }) => destinations);
    },
    isPartOf: (one) => one.id === id || senderId(one.kind) === id,
    isHeldBack: async () => {
      const kind = CHANNEL_KINDS.find((one) => id.startsWith(`${one}-`));
      return kind !== undefined && (await outages.get([senderId(kind)])).size > 0;
    },
  });

/** What died with the first failures is written down before the outage is noted, by clocks that differ a little. */
const FIRST_FAILURES_MS = 10_000;

/** Alerts on their way to what is broken, and those that died there in this outage. `since`: ISO 8601. */
const createCounts =
  ({ ledger, deadLetters, fallback }: Pick<OutageNotifierDependencies, 'ledger' | 'deadLetters' | 'fallback'>) =>
  async ({ destination, isSender }: Subject, since: string) => {
    const isOwn = (id: string): boolean => (isSender ? id.startsWith(`${destination.kind}-`) : id === destination.id);
    const from = iso(Date.parse(since) - FIRST_FAILURES_MS);
    const [waiting, letters] = await Promise.all([ledger.waitingByDestination(), deadLetters.byDestination(from)]);
    const ownOf = (counts: readonly (readonly [id: string, count: number])[]): number =>
      counts.reduce((sum, [id, count]) => sum + (isOwn(id) ? count : 0), 0);
    return {
      waiting: ownOf(Object.entries(waiting)),
      dead: ownOf([...letters].map(([id, { dead }]) => [id, dead])),
      // What dies at a destination of the fallback goes to no other one of it.
      hasFallback: fallback.some(({ id }) => !isOwn(id)) && (isSender || !fallback.some(({ id }) => isOwn(id))),
    };
  };

/** Announced to operators or the fallback; where there is neither, to the destination itself at its new address. */
const createOnMoved = (dependencies: OutageNotifierDependencies) => {
  const { operators, fallback, labelOf, announce, named, log, now } = dependencies;
  return async (destination: Destination, address: string): Promise<void> => {
    const label = labelOf(destination.kind, address);
    const readers = [operators, fallback].find(({ length }) => length > 0) ?? [{ ...destination, address }];
    const message = movedText(await named(destination), label);
    const news = { about: 'destination.moved', key: `${destination.id} ${label}`, message } as const;
    const said = { announcement: await announce(news, now(), readers), announcedTo: labelsOf(readers) };
    log.warn({ destination: destination.id, from: destination.label, to: [label], ...said }, 'a destination has moved');
  };
};

const BROKEN = 'a destination is broken';
/** Until then the daemon that found it announces it, as it knows the people of its protocols. */
const LEFT_AFTER_MS = 30_000;

/** Sends the announcements. Throws where Redis fails. */
const createAnnouncements = (dependencies: OutageNotifierDependencies) => {
  const { outages, announcer, isSenderAnnounced, named, log, now } = dependencies;
  const groupOf = createGroup(dependencies);
  const countsOf = createCounts(dependencies);

  /** Announced once over all daemons, until it works again. */
  const onBroken = async (broken: Broken): Promise<void> => {
    const { alerts, reason, message, explanation, said, isDisabled = false, ...subject } = broken;
    const id = subjectId(subject);
    const times = await outages.count(id);
    const isKnown = subject.isSender && (await isSenderAnnounced(subject.destination.kind));
    const since = (await outages.find(id))?.since ?? iso(now());
    const { hasFallback, ...counts } = await countsOf(subject, since);
    const facts = { reason, message, ...counts, outagesThisHour: times };
    const destination = await named(subject.destination);
    const protocols = [...new Set(alerts.map(({ protocol }) => protocol))];
    const outage = await outages.note(id, {
      ...{ since, reason, message, explanation, announcedTo: [], isAnnounced: isKnown || times > ANNOUNCED_AN_HOUR },
      text: `${brokenText({
        ...{ ...subject, destination, protocols, ...facts, explanation, said, isDisabled, since, hasFallback },
      })}${lastLine(times)}`,
      said: { text: BROKEN, fields: { destination: id, to: [subjectName(subject)], ...facts } },
    });
    if (outage.isAnnounced) log.error(outage.said.fields, BROKEN);
    else await announcer.tell(groupOf(id, alerts), outage, true);
  };

  const onRecovered = async (subject: Subject): Promise<void> => {
    const id = subjectId(subject);
    const outage = await outages.find(id);
    if (outage === undefined) return;
    const { since, message, members } = outage;
    const destination = await named(subject.destination);
    const counts = await countsOf(subject, since);
    await announcer.end(groupOf(id, []), {
      of: [{ announced: outage, members }],
      words: () => recoveredText({ ...subject, destination, since, message, ...counts, now: now() }),
      said: { text: 'a destination works again', fields: { destination: id, to: [subjectName(subject)], since } },
    });
  };

  /** Announces what was cut short, what nobody could hear, and what had to wait for the end of another outage. */
  const complete = async (current: readonly Outage[]): Promise<void> => {
    const isLeft = ({ since, notHeard, isAnnounced }: Outage): boolean =>
      !isAnnounced && (notHeard !== undefined || now() - Date.parse(since) > LEFT_AFTER_MS);
    for (const one of current.filter(isLeft)) await announcer.tell(groupOf(one.id ?? one.key, []), one);
  };

  return { onBroken, onRecovered, complete };
};

/** Called by `deliver/health.ts`, once over all daemons each time; what throws is logged, and called again. */
export const createOutageNotifier = (dependencies: OutageNotifierDependencies) => {
  const { onBroken, onRecovered, complete } = createAnnouncements(dependencies);
  const onMoved = createOnMoved(dependencies);

  const logged = (about: Announcement, { id, label }: Destination, announcing: Promise<void>): Promise<void> =>
    announcing.catch((err: unknown) => {
      dependencies.log.error({ about, destination: id, to: [label], err }, 'an announcement failed');
      throw err;
    });

  return {
    complete,
    onBroken: (broken: Broken) => logged('destination.broken', broken.destination, onBroken(broken)),
    onRecovered: (subject: Subject) => logged('destination.well', subject.destination, onRecovered(subject)),
    onMoved: (destination: Destination, address: string) =>
      logged('destination.moved', destination, onMoved(destination, address)),
  };
};

interface EnableDependencies {
  disabled: Pick<Disabled, 'find' | 'enable'>;
  circuits: Pick<Circuits, 'announceAgain'>;
  outages: Pick<OutageStore, 'enabled'>;
  now(): number;
}

/** False where it was not disabled: then nothing changes. */
export type Enable = (id: Destination['id']) => Promise<boolean>;

/**
 * Enables a destination whose receiver wanted nothing more. Its outage is in force no more, so nobody is sent there for
 * nothing. Whether it is over, the next answer says.
 */
export const createEnable =
  ({ disabled, circuits, outages, now }: EnableDependencies): Enable =>
  async (id) => {
    if ((await disabled.find(id)) === undefined) return false;
    await outages.enabled(id, iso(now()));
    await circuits.announceAgain(id);
    // Last: where this is cut short, the same command does it all again.
    return disabled.enable(id);
  };
