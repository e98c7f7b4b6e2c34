/** Tells people, over channels that work, that a destination is broken, that it works again, and that it has moved. */
import type { Logger } from 'pino';
import { type Alert, type Announcement, type Destination, senderId } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import type { Broken } from '../../deliver/health.ts';
import type { RouteSettings, Routes } from '../../dispatch/routes.ts';
import { type Subject, subjectId, subjectName } from '../../ledger/outage-subject.ts';
import { iso } from '../../time.ts';
import { createAnnounce } from '../announcements/announce.ts';
import { audienceOf, brokenText, movedText, TOLD_BREAKS, wellText } from './message.ts';

export interface OutageNotifierDependencies {
  store: Store;
  fallback: readonly Destination[];
  routesOf(alert: Alert): Promise<Routes>;
  labelOf: RouteSettings['labelOf'];
  log: Logger;
  now(): number;
}

export const createOutageNotifier = (dependencies: OutageNotifierDependencies) => {
  const { store, fallback, routesOf, labelOf, log, now } = dependencies;
  const { ledger, outageStore } = store;
  const announce = createAnnounce(store);

  /** The same key is the same announcement, told once to each. */
  const tell = async (about: Announcement, key: string, at: number, message: string, told: readonly Destination[]) => {
    const announcement = await announce({ about, key, message }, at, told);
    return { announcement, told: told.map(({ label }) => label) };
  };

  const waitingFor = async ({ destination, isSender }: Subject): Promise<number> => {
    const counts = Object.entries(await ledger.waitingByDestination());
    const own = counts.filter(([id]) => (isSender ? id.startsWith(`${destination.kind}-`) : id === destination.id));
    return own.reduce((sum, [, count]) => sum + count, 0);
  };

  const routedOf = async (alerts: readonly Alert[]): Promise<Destination[]> => {
    const protocols = new Map(alerts.map((alert) => [JSON.stringify([alert.service, alert.protocol]), alert]));
    const routes = await Promise.all([...protocols.values()].map(routesOf));
    return [...new Map(routes.flatMap(({ destinations }) => destinations).map((one) => [one.id, one])).values()];
  };

  const audience = async (subject: Subject, alerts: readonly Alert[]): Promise<Destination[]> => {
    const routed = await routedOf(alerts);
    const candidates = [...fallback, ...routed];
    const broken = await outageStore.get(candidates.flatMap(({ id, kind }) => [id, senderId(kind)]));
    const isBroken = ({ id, kind }: Destination): boolean => broken.has(id) || broken.has(senderId(kind));
    return audienceOf({ ...subject, fallback, routed, isBroken });
  };

  /** Said by all daemons once, until it works again. */
  const onBroken = async ({ alerts, reason, message, ...subject }: Broken): Promise<void> => {
    const id = subjectId(subject);
    const times = await outageStore.count(id);
    const told = times > TOLD_BREAKS ? [] : await audience(subject, alerts);
    const standing = await outageStore.note(id, { since: iso(now()), reason, message, told });
    const { since } = standing;
    const waiting = await waitingFor(subject);
    const hasFallback = fallback.length > 0;
    const text = brokenText({ ...subject, reason, message, since, waiting, hasFallback, outageStore: times });
    const said = await tell('destination.broken', `${id} ${since}`, Date.parse(since), text, standing.told);
    const line = { destination: id, to: subjectName(subject), reason, message, waiting, outageStore: times, ...said };
    if (told.length > 0 || times > TOLD_BREAKS) log.error(line, 'a destination is broken');
    else log.error(line, 'a destination is broken, and no channel works that could tell people');
  };

  const onWell = async (subject: Subject): Promise<void> => {
    const id = subjectId(subject);
    const standing = (await outageStore.get([id])).get(id);
    if (standing === undefined) return;
    const { told, ...broken } = standing;
    const text = wellText({ ...subject, ...broken, waiting: await waitingFor(subject) });
    const { since } = broken;
    const said = await tell('destination.well', `${id} ${since}`, now(), text, told);
    await outageStore.remove(id, standing);
    log.info({ destination: id, to: subjectName(subject), since, ...said }, 'a destination works again');
  };

  /** To the fallback; where there is none, to the people who have moved. */
  const onMoved = async (destination: Destination, address: string): Promise<void> => {
    const label = labelOf(destination.kind, address);
    const told = fallback.length > 0 ? fallback : [{ ...destination, address }];
    const text = movedText(destination, label);
    const said = await tell('destination.moved', `${destination.id} ${label}`, now(), text, told);
    log.warn({ destination: destination.id, from: destination.label, to: label, ...said }, 'a destination has moved');
  };

  /** A delivery must not fail because nobody can be told of another. */
  const failed =
    (about: Announcement, { id, label }: Destination) =>
    (error: unknown): void =>
      log.error({ about, destination: id, to: label, err: error }, 'an announcement failed');

  return {
    onBroken: (broken: Broken): Promise<void> =>
      onBroken(broken).catch(failed('destination.broken', broken.destination)),
    onWell: (well: Subject): Promise<void> => onWell(well).catch(failed('destination.well', well.destination)),
    onMoved: (destination: Destination, address: string): Promise<void> =>
      onMoved(destination, address).catch(failed('destination.moved', destination)),
  };
};
