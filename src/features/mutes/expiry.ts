/** Ends mutes whose time is over, and tells once what each hid. */
import type { Logger } from 'pino';
import { type Destination, isHuman } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import { nameOf } from '../../ledger/record.ts';
import { createAnnounce } from '../announcements/announce.ts';
import type { IsOpen } from '../approval/policy.ts';
import type { ActiveMutes } from './active.ts';
import { type MuteReport, muteReportTexts } from './report.ts';
import { endOf, type HiddenItem, type StoredMute } from './store.ts';

export interface MuteExpiryDependencies {
  store: Pick<Store, 'mutes' | 'ledger' | 'queues'>;
  activeMutes: Pick<ActiveMutes, 'note'>;
  /** Told where a mute hid things from programs alone. */
  fallback: readonly Destination[];
  isOpen(): Promise<IsOpen>;
  isConfigured(destination: Destination): boolean;
  log: Pick<Logger, 'info' | 'warn'>;
  now(): number;
}

/** So long `mute list --all` shows it. */
const REMEMBERED_MS = 7 * 86_400_000;

/** So many in one line of the log. */
const LOGGED = 200;

const lineOf = ({ id, reason, hid }: StoredMute) => ({ mute: id, reason, hid });

export const createMuteExpiry = (dependencies: MuteExpiryDependencies) => {
  const { store, activeMutes, isConfigured, log, now } = dependencies;
  const { mutes } = store;
  const announce = createAnnounce(store);
  const fallback = dependencies.fallback.filter(isHuman);

  /** `key` tells the reports of one mute apart; gives the number of messages. */
  const report = async (mute: StoredMute, key: string, told: MuteReport, to: readonly Destination[]) => {
    const endedAt = Math.min(now(), endOf(mute));
    const messages = muteReportTexts(mute, endedAt, told);
    for (const [index, message] of messages.entries()) {
      await announce({ about: 'mute.ended', key: `${mute.id} ${key} ${index + 1}`, message }, endedAt, to);
    }
    return messages.length;
  };

  /** Each of them hears of what was hidden from it. Gives the ids of the alerts that are listed; undefined as in `Mutes`. */
  const tellPeople = async (mute: StoredMute, people: readonly Destination[]): Promise<Set<string> | undefined> => {
    const listed = new Set<string>();
    let messages = 0;
    for (const destination of people) {
      const list = await mutes.hiddenFrom(mute.id, destination);
      if (list === undefined) return undefined;
      const told = { hid: list.hid, items: [...list.items.values()] };
      messages += await report(mute, destination.id, told, [destination]);
      for (const id of list.items.keys()) listed.add(id);
    }
    const to = people.map(({ label }) => label);
    if (to.length > 0) log.info({ ...lineOf(mute), to, messages }, 'a mute has ended; what it hid is told');
    return listed;
  };

  /** What was hidden from programs, or from people who may not be written to, and is listed to nobody else. */
  const unread = async (mute: StoredMute, others: readonly Destination[], listed: ReadonlySet<string>) => {
    const rest = new Map<string, HiddenItem>();
    const insteadOf: string[] = [];
    let unlisted = 0;
    for (const destination of others) {
      const list = await mutes.hiddenFrom(mute.id, destination);
      if (list === undefined) return undefined;
      const own = [...list.items].filter(([id]) => !listed.has(id));
      if (own.length === 0) continue;
      insteadOf.push(nameOf(destination));
      // They had much the same, as a rule: the longest list says how many are missing.
      unlisted = Math.max(unlisted, list.hid - list.items.size);
      for (const [id, item] of own) rest.set(id, item);
    }
    return { hid: listed.size === 0 ? mute.hid : rest.size + unlisted, items: [...rest.values()], insteadOf };
  };

  const tellFallback = async (mute: StoredMute, rest: MuteReport): Promise<void> => {
    const line = { ...lineOf(mute), hid: rest.hid };
    if (fallback.length > 0) {
      // Who may be written to can change before a second try: another list is another report.
      const messages = await report(mute, `unread ${rest.items.length}`, rest, fallback);
      const to = fallback.map(({ label }) => label);
      log.info({ ...line, to, messages }, 'a mute has ended; what it hid is told to the fallback');
      return;
    }
    for (let start = 0; start < rest.items.length; start += LOGGED) {
      const items = rest.items.slice(start, start + LOGGED);
      log.warn({ ...line, items }, 'a mute has ended, and there is nobody to tell what it hid');
    }
  };

  /** Closed first, told second, forgotten last: a crash between any two tells the same again, under the same identity. */
  const end = async (mute: StoredMute): Promise<void> => {
    await mutes.close(mute.id, now());
    const { hid, destinations } = await mutes.hidden(mute.id);
    const ended = { ...mute, hid };
    if (hid === 0) {
      log.info(lineOf(ended), 'a mute has ended that hid nothing');
    } else {
      const isOpen = await dependencies.isOpen();
      const mayBeCovered = (one: Destination): boolean => isHuman(one) && isConfigured(one) && isOpen(one);
      const listed = await tellPeople(ended, destinations.filter(mayBeCovered));
      const others = destinations.filter((one) => !mayBeCovered(one));
      const rest = listed && (await unread(ended, others, listed));
      if (rest && rest.items.length > 0) await tellFallback(ended, rest);
    }
    await mutes.told(mute.id, now());
  };

  return async (): Promise<void> => {
    const { over, past } = await activeMutes.note();
    for (const mute of over) await end(mute);
    const old = past.filter(({ toldAt = '' }) => now() - Date.parse(toldAt) > REMEMBERED_MS);
    await mutes.forget(old.map(({ id }) => id));
  };
};
