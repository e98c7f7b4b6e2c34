/**
 * Splits a parcel into messages: one for each transaction, or one digest if there are many. Pure, and the same for every
 * kind that people read.
 */
import { type Alert, type Destination, isAnnouncement, isSample, type Parcel } from '../alert.ts';
import { getOrCreate } from '../bounded-map.ts';
import { chunksOf, type Sliced } from '../chunks.ts';
import { messageId } from '../item.ts';
import type { Message } from './channel.ts';
import { isMuteReport } from './content/announced.ts';

/** More incidents than this at once become a digest: nobody reads the sixth message of a minute. */
export const FEW = 5;
/** Alerts in one digest; more become a second digest. It keeps the digest's file within a few megabytes. */
export const DIGEST_MAX = 5000;

/** One message to compose: a `single` is about one incident, a `digest` about many. */
interface MessagePlan {
  as: 'single' | 'digest';
  /** Never empty. */
  alerts: readonly Alert[];
}

/** Announcements in one message; more become a second one. */
const ANNOUNCEMENTS_MAX = 100;

/** Alerts with the same key are one incident. Only inspections that name a transaction can share one. */
const newKey = ({ id, source, followUp, type, txHash, replay, item }: Alert): string =>
  source === 'inspections' && !followUp && type !== 'test.sample' && txHash
    ? JSON.stringify([replay, String(item.chainId), txHash])
    : id;

const keys = new WeakMap<Alert, string>();

/** Found once for each alert: a digest of thousands asks several times. */
const incidentKey = (alert: Alert): string => getOrCreate(keys, alert, () => newKey(alert));

/** Alerts by transaction, in the order of each incident's first alert. */
export const incidentsOf = (alerts: readonly Alert[]): Alert[][] => [...Map.groupBy(alerts, incidentKey).values()];

/** Whole incidents in digests of about the same size, none over `DIGEST_MAX`; a larger incident is split. */
const digestsOf = (incidents: readonly Alert[][]): MessagePlan[] => {
  const all = incidents.flat().length;
  const size = Math.ceil(all / Math.ceil(all / DIGEST_MAX));
  const digests: Alert[][] = [];
  for (const incident of incidents) {
    for (const part of chunksOf(incident, size)) {
      const last = digests.at(-1);
      if (last && last.length + part.length <= size) last.push(...part);
      else digests.push(part);
    }
  }
  return digests.map((members) => ({ as: incidentsOf(members).length > 1 ? 'digest' : 'single', alerts: members }));
};

const plansOf = (alerts: readonly Alert[]): MessagePlan[] => {
  const incidents = incidentsOf(alerts);
  return incidents.length > FEW
    ? digestsOf(incidents)
    : incidents.map((incident) => ({ as: 'single', alerts: incident }));
};

const single = (alerts: readonly Alert[]): MessagePlan => ({ as: 'single', alerts });

/** Announcements about alerts stand below these, so each transaction has its own; too many are one message. */
const bySubject = (same: readonly Alert[]): (readonly Alert[])[] => {
  const subjects = [...Map.groupBy(same, ({ txHash, below }) => txHash ?? below).values()];
  return subjects.length > FEW ? [same] : subjects;
};

/** Those of one kind are one message; mute reports, which are the longest, come last. */
const announcementPlans = (alerts: readonly Alert[]): MessagePlan[] =>
  [...Map.groupBy(alerts, ({ type, replay }) => `${type} ${replay}`).values()]
    .toSorted(([one], [other]) => Number(one && isMuteReport(one)) - Number(other && isMuteReport(other)))
    .flatMap(bySubject)
    .flatMap((same) => chunksOf(same, ANNOUNCEMENTS_MAX).map(single));

/**
 * Every alert in exactly one message. Samples and announcements are no incidents and must not drown in a digest; neither
 * do announcements hold up the news. Replayed history has messages of its own, after all others.
 */
export const planOf = (alerts: readonly Alert[]): MessagePlan[] => {
  const announcements = alerts.filter((alert) => isAnnouncement(alert) && !isSample(alert));
  const others = alerts.filter((alert) => !isAnnouncement(alert) && !isSample(alert));
  return [
    ...alerts.filter(isSample).map((alert) => single([alert])),
    ...plansOf(others.filter(({ replay }) => !replay)),
    ...announcementPlans(announcements),
    ...plansOf(others.filter(({ replay }) => replay)),
  ];
};

/** Some of a parcel's alerts as a message. */
export const toMessage = <Body>(
  destination: Destination,
  alerts: readonly Alert[],
  body: Body,
  isDigest: boolean,
): Message<Body> => {
  const ids = alerts.map(({ id }) => id);
  return { destination, alerts, id: messageId(ids, destination.id), body, isDigest };
};

type BodyOf<Body> = (alerts: readonly Alert[], destination: Destination) => Sliced<Body>;

/** How a kind makes the body of an incident and of a digest. `split`: a digest is several messages, each of some alerts. */
interface Bodies<Body> extends Readonly<Record<MessagePlan['as'], BodyOf<Body>>> {
  split?: ((alerts: readonly Alert[]) => Sliced<Alert[][]>) | undefined;
}

/** The messages of a parcel. */
export function* messagesOf<Body>({ destination, alerts }: Parcel, bodies: Bodies<Body>): Sliced<Message<Body>[]> {
  const messages: Message<Body>[] = [];
  for (const { as, alerts: planned } of planOf(alerts)) {
    const parts = as === 'digest' && bodies.split ? yield* bodies.split(planned) : [planned];
    for (const some of parts) {
      const body = yield* bodies[as](some, destination);
      messages.push(toMessage(destination, some, body, as === 'digest'));
    }
  }
  return messages;
}
