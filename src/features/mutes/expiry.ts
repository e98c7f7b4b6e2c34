/** Ends mutes whose time is over, and reports once what each of them hid. */
import type { Logger } from 'pino';
import { type Destination, isHuman } from '../../alert.ts';
import { placeOf } from '../../channels/registry.ts';
import { chunksOf, oneByOne } from '../../chunks.ts';
import type { Announce } from '../announcements/announce.ts';
import { type Names, withName } from '../names/names.ts';
import type { ActiveMutes } from './active.ts';
import { type MuteReport, muteReportTexts } from './report.ts';
import { endOf, type HiddenItem, type MuteStore, type StoredMute } from './store.ts';

interface MuteExpiryDependencies {
  mutes: Pick<MuteStore, 'close' | 'hidden' | 'hiddenFrom' | 'reported' | 'forget'>;
  activeMutes: Pick<ActiveMutes, 'refresh'>;
  announce: Announce;
  /** Gets the report where a mute hid alerts from programs only. */
  fallback: readonly Destination[];
  isOpen(): Promise<(destination: Destination) => boolean>;
  isConfigured(destination: Destination): boolean;
  names(): Promise<Names>;
  log: Pick<Logger, 'info' | 'warn'>;
  now(): number;
}

/** A mute that is over stays in `mute list --all` for this long. */
const REMEMBERED_MS = 7 * 86_400_000;
/** Items in one line of the log. */
const LOGGED = 200;

const lineOf = ({ id, reason, hid }: StoredMute) => ({ mute: id, reason, hid });

/** Sends a report in as many messages as it needs; gives their number. `key` distinguishes the reports of one mute. */
const createSend =
  ({ announce, now }: Pick<MuteExpiryDependencies, 'announce' | 'now'>) =>
  async (mute: StoredMute, key: string, report: MuteReport, to: readonly Destination[]): Promise<number> => {
    const endedAt = Math.min(now(), endOf(mute));
    const texts = muteReportTexts(mute, endedAt, report);
    for (const [index, text] of texts.entries()) {
      await announce({ about: 'mute.ended', key: `${mute.id} ${key} ${index + 1}`, ...text }, endedAt, to);
    }
    return texts.length;
  };

/** Sends the fallback what is in no other report; without a fallback that goes to the log. */
const createFallbackReport = ({ announce, log, now, ...dependencies }: MuteExpiryDependencies) => {
  const fallback = dependencies.fallback.filter(isHuman);
  const send = createSend({ announce, now });
  return async (mute: StoredMute, report: MuteReport): Promise<void> => {
    const line = { ...lineOf(mute), hid: report.hid };
    if (fallback.length === 0) {
      for (const items of chunksOf(report.items, LOGGED)) {
        log.warn({ ...line, items }, 'a mute has ended, and nobody can be sent the list of what it hid');
      }
      return;
    }
    // Approvals can change before a second try: another list is another report.
    const messages = await send(mute, `unread ${report.items.length}`, report, fallback);
    const to = fallback.map(({ label }) => label);
    log.info({ ...line, to, messages }, 'a mute has ended; sent the list of what it hid to the fallback');
  };
};

/** Both give undefined where another daemon has reported the mute meanwhile. */
const createReporter = ({ mutes, announce, names, log, now }: MuteExpiryDependencies) => {
  const send = createSend({ announce, now });

  /** Reports to each person's destination what was hidden from it. Gives the ids of the alerts that are listed. */
  const toPeople = async (mute: StoredMute, people: readonly Destination[]): Promise<Set<string> | undefined> => {
    const listed = new Set<string>();
    let messages = 0;
    for (const destination of people) {
      const list = await mutes.hiddenFrom(mute.id, destination);
      if (list === undefined) return undefined;
      const report = { hid: list.hid, items: [...list.items.values()] };
      messages += await send(mute, destination.id, report, [destination]);
      for (const id of list.items.keys()) listed.add(id);
    }
    const to = people.map(({ label }) => label);
    if (to.length > 0) log.info({ ...lineOf(mute), to, messages }, 'a mute has ended; sent the list of what it hid');
    return listed;
  };

  /** What was hidden from programs, or from people who may not be sent to, and is in no other report. */
  const unlisted = async (
    mute: StoredMute,
    others: readonly Destination[],
    listed: ReadonlySet<string>,
  ): Promise<MuteReport | undefined> => {
    const rest = new Map<string, HiddenItem>();
    const named = await names();
    const insteadOf: string[] = [];
    let more = 0;
    for (const destination of others) {
      const list = await mutes.hiddenFrom(mute.id, destination);
      if (list === undefined) return undefined;
      const own = [...list.items].filter(([id]) => !listed.has(id));
      if (own.length === 0) continue;
      insteadOf.push(placeOf(withName(destination, named)));
      // The lists overlap; use the largest unlisted count.
      more = Math.max(more, list.hid - list.items.size);
      for (const [id, item] of own) rest.set(id, item);
    }
    return { hid: listed.size === 0 ? mute.hid : rest.size + more, items: [...rest.values()], insteadOf };
  };

  return { toPeople, unlisted };
};

export const createMuteExpiry = (dependencies: MuteExpiryDependencies) => {
  const { mutes, activeMutes, isConfigured, log, now } = dependencies;
  const reporter = createReporter(dependencies);
  const toFallback = createFallbackReport(dependencies);

  /** Closed first, reported second, forgotten last: after a crash the same report is sent under the same identity. */
  const end = async (mute: StoredMute): Promise<void> => {
    await mutes.close(mute.id, now());
    const { hid, destinations } = await mutes.hidden(mute.id);
    const ended = { ...mute, hid };
    if (hid === 0) {
      log.info(lineOf(ended), 'a mute has ended that hid nothing');
    } else {
      const isOpen = await dependencies.isOpen();
      const isReader = (one: Destination): boolean => isHuman(one) && isConfigured(one) && isOpen(one);
      const listed = await reporter.toPeople(ended, destinations.filter(isReader));
      const others = destinations.filter((one) => !isReader(one));
      const rest = listed && (await reporter.unlisted(ended, others, listed));
      if (rest && rest.items.length > 0) await toFallback(ended, rest);
    }
    await mutes.reported(mute.id, now());
  };

  /** Tries every mute that is over; then throws what failed. */
  return async (): Promise<void> => {
    const { over, past } = await activeMutes.refresh();
    const old = past.filter(({ reportedAt = '' }) => now() - Date.parse(reportedAt) > REMEMBERED_MS);
    await mutes.forget(old.map(({ id }) => id));
    await oneByOne(over, ({ id }) => id, end);
  };
};
