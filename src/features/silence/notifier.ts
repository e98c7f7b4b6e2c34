/** Announces that nothing is inspected of protocols, and when that is over. Throws where Redis fails. */
import type { Destination } from '../../alert.ts';
import { mapInChunks } from '../../chunks.ts';
import { contentId } from '../../item.ts';
import { listText, nameText } from '../../text.ts';
import { ageText, clockText, durationText, iso } from '../../time.ts';
import { shellName, TO_DO } from '../announcements/announce.ts';
import type { Blindness, BlindnessStore } from '../blindness/store.ts';
import { ANNOUNCED_AN_HOUR, type AnnouncerDependencies, workingReaders } from '../broken-destinations/message.ts';
import type { Silence } from './probe.ts';

export interface SilentProtocol extends Silence {
  protocol: string;
}

/** A message names at most this many protocols. */
const NAMED = 10;

const habitText = ({ expectEvery, usualMs = 0 }: Silence): string =>
  expectEvery === undefined
    ? `usually it is every ${ageText(usualMs)}`
    : `it is expected every ${durationText(expectEvery)}`;

const factsText = (silence: Silence): string => `for ${ageText(silence.forMs)}; ${habitText(silence)}`;

/** Of one protocol the command is whole, unless a shell would take its name for more than a name. */
const historyOf = (silent: readonly SilentProtocol[]): string =>
  `tocsin protocols history ${silent.length === 1 ? shellName(silent[0]?.protocol ?? '') : 'NAME'}`;

export const silentText = (service: string, silent: readonly SilentProtocol[]): string => {
  const [first] = silent;
  const named = silent.slice(0, NAMED).map((one) => `- ${nameText(one.protocol)}: ${factsText(one)}`);
  const others = silent.length > NAMED ? [`- and ${silent.length - NAMED} more`] : [];
  const what =
    first === undefined || silent.length > 1
      ? [`${silent.length} protocols have not been inspected for long.`, ...named, ...others]
      : [`Protocol ${nameText(first.protocol)} has not been inspected ${factsText(first)}.`];
  return [
    ...what,
    `The monitoring service ${nameText(service)} answers, but it may have stopped to inspect. If it has, no alert can be found.`,
    `${TO_DO}ask the people who run the service. \`tocsin inspections list\` shows the last inspections, \`${historyOf(silent)}\` whether somebody changed the protocol. If so long a pause is usual, set expectEvery in protocols.overrides.`,
  ].join('\n');
};

/** `since`: ISO 8601. `gone`: those that are not watched any more. `forMs`: how long it lasted. */
export const heardText = (
  service: string,
  { protocols, gone, since, forMs }: { protocols: readonly string[]; gone: number; since: string; forMs: number },
): string => {
  const how = gone === protocols.length ? 'Not watched any more' : 'Inspected again';
  return [
    `${how}: ${listText(protocols, NAMED, nameText)} of the monitoring service ${nameText(service)}.`,
    `Nothing was inspected for ${ageText(Math.max(0, forMs))}, since ${clockText(since)}.`,
  ].join('\n');
};

export interface SilenceNotifierDependencies extends AnnouncerDependencies {
  /** What is announced. */
  silent: Pick<BlindnessStore, 'list' | 'set' | 'remove'>;
}

const AT_ONCE = 50;
const COMES_AND_GOES = 'the silence of a protocol comes and goes: it is not announced again within the hour';

export const createSilenceNotifier = (dependencies: SilenceNotifierDependencies) => {
  const { silent, outages, announce, operators, fallback, destinationsOf, log, now } = dependencies;

  const readers = async (service: string, protocols: readonly string[]): Promise<Destination[]> =>
    workingReaders(outages, { operators, fallback, routed: await destinationsOf(service, protocols) });

  /** Where one comes and goes, what lasts is told when the hour is over. */
  const loudAmong = async (service: string, found: readonly SilentProtocol[]): Promise<SilentProtocol[]> => {
    const counted = await mapInChunks(found, AT_ONCE, async (one) => {
      const times = await outages.count(`silence-${contentId(service, one.protocol)}`);
      if (times === ANNOUNCED_AN_HOUR + 1) log.info({ service, protocol: one.protocol }, COMES_AND_GOES);
      return times <= ANNOUNCED_AN_HOUR ? [one] : [];
    });
    return counted.flat();
  };

  /** Also completes one that was cut short: the same key is the same announcement, sent once. */
  const tell = async (service: string, one: Blindness): Promise<void> => {
    const { key, since, announcedTo, protocols, reason: message = '' } = one;
    const about = { about: 'protocol.silent', key: `${service} ${key}`, message } as const;
    const announcement = await announce(about, Date.parse(since), announcedTo);
    await silent.set(service, { ...one, isAnnounced: true });
    const line = { service, since, protocols: protocols.length, first: protocols[0], announcement };
    const unheard = announcedTo.length > 0 ? '' : ', and no channel works that could announce it';
    log.error({ ...line, announcedTo: announcedTo.map(({ label }) => label) }, `nothing is inspected${unheard}`);
  };

  return {
    tell,
    /** `at`: by the service's clock. What is dated later than the newest of them is no silence any more. */
    begin: async (service: string, found: readonly SilentProtocol[], at: number): Promise<void> => {
      const all = await loudAmong(service, found);
      if (all.length === 0) return;
      const protocols = all.map(({ protocol }) => protocol);
      const since = iso(at - Math.min(...all.map(({ forMs }) => forMs)));
      const announcedTo = await readers(service, protocols);
      const key = `${iso(at)} ${contentId(...protocols).slice(0, 12)}`;
      // The text is kept: the daemon that completes it says the same.
      const reason = silentText(service, all);
      const begun: Blindness = { key, since, isWhole: false, protocols, reason, announcedTo, isAnnounced: false };
      await silent.set(service, begun);
      await tell(service, begun);
    },
    /** `watched`: all protocols of the service. */
    end: async (
      service: string,
      { announced, protocols }: { announced: Blindness; protocols: readonly string[] },
      watched: ReadonlySet<string>,
    ): Promise<void> => {
      const { key, since, announcedTo } = announced;
      const gone = protocols.filter((name) => !watched.has(name)).length;
      const message = heardText(service, { protocols, gone, since, forMs: now() - Date.parse(since) });
      const about = { about: 'protocol.heard', key: `${service} ${key} ${contentId(...protocols)}`, message } as const;
      const announcement = await announce(about, now(), announcedTo);
      const left = announced.protocols.filter((name) => !protocols.includes(name));
      if (left.length === 0) await silent.remove(service, key);
      else await silent.set(service, { ...announced, protocols: left });
      log.info({ service, since, protocols: protocols.length, first: protocols[0], announcement }, 'inspected again');
    },
  };
};
