/** Announces that a service, or some of its protocols, cannot be read, and when that is over. Throws where Redis fails. */
import type { Destination } from '../../alert.ts';
import { contentId } from '../../item.ts';
import { cleanLine, countedInWords, listText, nameText, shorten } from '../../text.ts';
import { ageText, clockText, iso } from '../../time.ts';
import { TO_DO } from '../announcements/announce.ts';
import {
  ANNOUNCED_AN_HOUR,
  type AnnouncerDependencies,
  COMES_AND_GOES,
  workingReaders,
} from '../broken-destinations/message.ts';
import type { Changes } from './changes.ts';
import type { Blindness, BlindnessStore } from './store.ts';

type Subject = Pick<Blindness, 'isWhole' | 'protocols' | 'since' | 'reason'> & { service: string };

/** A message names at most this many protocols. */
const NAMED = 10;
const LONGEST_REASON = 300;

const protocolsText = (names: readonly string[]): string => listText(names, NAMED, nameText);

const subjectText = ({ service, isWhole, protocols }: Subject): string => {
  if (isWhole) return `The monitoring service ${nameText(service)}`;
  const kind = protocols.length === 1 ? 'The protocol' : `${protocols.length} protocols`;
  const named = protocols.length === 1 ? ` ${protocolsText(protocols)}` : '';
  return `${kind}${named} of the monitoring service ${nameText(service)}`;
};

const reasonText = ({ reason }: Subject): string =>
  reason === undefined ? '.' : `: ${shorten(cleanLine(reason), LONGEST_REASON).replace(/\.+$/, '')}.`;

/** `watched`: protocols in all. `times`: how often something of this service began to be unread within the hour. */
export const unreadText = (subject: Subject & { watched: number; times: number }): string => {
  const { isWhole, protocols, since, watched, times } = subject;
  const what = isWhole
    ? `No alert of its ${countedInWords(watched, 'protocol')} can be found meanwhile.`
    : `No alert of them can be found meanwhile; ${countedInWords(watched - protocols.length, 'other is', 'others are')} read.`;
  return [
    `${subjectText(subject)} cannot be read${reasonText(subject)}`,
    ...(protocols.length > 1 ? [`They are ${protocolsText(protocols)}.`] : []),
    `Since ${clockText(since)}. ${watched === 0 ? 'It was never listed, so none of its protocols is watched.' : what} What is written meanwhile is read by itself when it answers again: such alerts come late, and none is lost.`,
    `${TO_DO}see whether the service answers and takes the API key. To ask it, run: tocsin check --online`,
    ...(times >= ANNOUNCED_AN_HOUR ? [COMES_AND_GOES] : []),
  ].join('\n');
};

/** A count that stopped at its bound. */
export interface CaughtUp {
  alerts: number;
  isBound: boolean;
}

interface ReadAgainInput extends Subject {
  /** Those of `protocols` that the service does not list any more. */
  gone: number;
  forMs: number;
  caughtUp: CaughtUp;
}

const caughtUpText = ({ alerts, isBound }: CaughtUp): string => {
  if (alerts === 0) return 'Nothing to alert about was written meanwhile.';
  return `Caught up: ${isBound ? 'more than ' : ''}${countedInWords(alerts, 'alert')} of that time. ${alerts === 1 ? 'It comes' : 'They come'} late.`;
};

export const readAgainText = (input: ReadAgainInput): string => {
  const { protocols, gone, since, forMs } = input;
  const isGone = gone > 0 && gone === protocols.length;
  const how = isGone ? 'no longer listed' : 'read again';
  return [
    `${subjectText(input)} ${protocols.length > 1 ? 'are' : 'is'} ${how}.`,
    ...(protocols.length > 1 ? [`They are ${protocolsText(protocols)}.`] : []),
    `Unread for ${ageText(forMs)}, since ${clockText(since)}${reasonText(input)}`,
    ...(isGone ? [] : [caughtUpText(input.caughtUp)]),
  ].join('\n');
};

export interface BlindnessNotifierDependencies extends AnnouncerDependencies {
  store: Pick<BlindnessStore, 'list' | 'set' | 'remove'>;
  /** Why a service, or one of these protocols, cannot be read: a sentence without secrets, where it is known. */
  reasonOf(service: string, protocols: readonly string[]): string | undefined;
  /** Alerts of a service, or of these protocols, of items dated between two moments in epoch milliseconds. */
  countAlerts(service: string, protocols: readonly string[], from: number, to: number): Promise<CaughtUp>;
}

interface BlindService {
  service: string;
  /** Every protocol that is watched. */
  watched: readonly string[];
}

export const createBlindnessNotifier = (dependencies: BlindnessNotifierDependencies) => {
  const { store, outages, announce, operators, fallback, destinationsOf, reasonOf, countAlerts, log, now } =
    dependencies;

  const readers = async (service: string, protocols: readonly string[]): Promise<Destination[]> =>
    workingReaders(outages, { operators, fallback, routed: await destinationsOf(service, protocols) });

  /** Also completes one that was cut short: the same key is the same announcement, sent once. */
  const tell = async (
    { service, watched }: BlindService,
    blindness: Blindness,
    times = ANNOUNCED_AN_HOUR - 1,
  ): Promise<void> => {
    const { key, since, announcedTo, protocols, reason } = blindness;
    const message = unreadText({ ...blindness, service, watched: watched.length, times });
    const about = { about: 'service.unread', key: `${service} ${key}`, message } as const;
    const announcement = await announce(about, Date.parse(since), announcedTo);
    await store.set(service, { ...blindness, isAnnounced: true });
    const line = { service, since, reason, announcement, announcedTo: announcedTo.map(({ label }) => label) };
    const which = protocols.length === 0 ? {} : { protocols: protocols.length, first: protocols[0] };
    const what = 'the service cannot be read';
    const silent =
      times > ANNOUNCED_AN_HOUR || announcedTo.length > 0 ? '' : ', and no channel works that could announce it';
    log.error({ ...line, ...which }, `${what}${protocols.length === 0 ? '' : ' in part'}${silent}`);
  };

  const begin = async (of: BlindService, begun: NonNullable<Changes['begun']>): Promise<void> => {
    const { service, watched } = of;
    const { isWhole, protocols, unreadMs } = begun;
    const since = iso(now() - unreadMs);
    const times = await outages.count(`unread-${contentId(service)}`);
    const reason = reasonOf(service, protocols);
    const announcedTo = times > ANNOUNCED_AN_HOUR ? [] : await readers(service, isWhole ? watched : protocols);
    const key = `${since} ${contentId(...protocols).slice(0, 12)}`;
    const blindness: Blindness = { key, since, isWhole, protocols, reason, announcedTo, isAnnounced: false };
    await store.set(service, blindness);
    await tell(of, blindness, times);
  };

  const end = async (
    { service, watched }: BlindService,
    { blindness, protocols }: Changes['ended'][number],
  ): Promise<void> => {
    const { key, since, announcedTo, isWhole } = blindness;
    const from = Date.parse(since);
    const gone = protocols.filter((name) => !watched.includes(name)).length;
    const forMs = Math.max(0, now() - from);
    const caughtUp = await countAlerts(service, protocols, from, now());
    const message = readAgainText({ ...blindness, service, protocols, gone, forMs, caughtUp });
    const about = { about: 'service.read', key: `${service} ${key} ${contentId(...protocols)}`, message } as const;
    const announcement = await announce(about, now(), announcedTo);
    const left = blindness.protocols.filter((name) => !protocols.includes(name));
    if (isWhole || left.length === 0) await store.remove(service, key);
    else await store.set(service, { ...blindness, protocols: left });
    const line = { service, since, forMs, alerts: caughtUp.alerts, announcement };
    log.info(
      isWhole ? line : { ...line, protocols: protocols.length, first: protocols[0] },
      'the service is read again',
    );
  };

  return { tell, begin, end };
};
