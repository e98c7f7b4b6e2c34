/** Ends mutes whose time is over, and tells once what each hid. */
import type { Logger } from 'pino';
import { type Destination, isHuman } from '../alert.ts';
import { endOf, type StoredMute } from '../deliver/mutes.ts';
import type { IsOpen } from '../dispatch/gate.ts';
import { createAnnounce } from './announce.ts';
import { muteEndText } from './mute-text.ts';
import type { Muting } from './muting.ts';
import type { Store } from './store.ts';

export interface MuteEndDependencies {
  store: Pick<Store, 'mutes' | 'ledger' | 'queues'>;
  muting: Pick<Muting, 'note'>;
  /** Told where a mute hid things from programs alone. */
  fallback: readonly Destination[];
  isOpen(): Promise<IsOpen>;
  isConfigured(destination: Destination): boolean;
  log: Pick<Logger, 'info' | 'warn'>;
  now(): number;
}

/** So long `mute list --all` shows it. */
const REMEMBERED_MS = 7 * 86_400_000;

export const createMuteEnds = (dependencies: MuteEndDependencies) => {
  const { store, muting, fallback, isConfigured, log, now } = dependencies;
  const { mutes } = store;
  const announce = createAnnounce(store);

  /** People who missed something and may be written to. */
  const audience = async (destinations: readonly Destination[]): Promise<readonly Destination[]> => {
    const isOpen = await dependencies.isOpen();
    const people = destinations.filter((one) => isHuman(one) && isConfigured(one) && isOpen(one));
    return people.length > 0 ? people : fallback.filter(isHuman);
  };

  /** Closed first, told second, forgotten last: a crash between any two tells the same again, under the same identity. */
  const end = async (mute: StoredMute): Promise<void> => {
    await mutes.close(mute.id, now());
    const hidden = await mutes.hidden(mute.id);
    const line = { mute: mute.id, reason: mute.reason, hid: hidden.hid };
    if (hidden.hid === 0) {
      log.info(line, 'a mute has ended that hid nothing');
    } else {
      const told = await audience(hidden.destinations);
      const endedAt = Math.min(now(), endOf(mute));
      const message = muteEndText(mute, endedAt, hidden);
      const announcement = await announce({ about: 'mute.ended', key: mute.id, message }, endedAt, told);
      const to = told.map(({ label }) => label);
      if (told.length > 0) log.info({ ...line, to, announcement }, 'a mute has ended; what it hid is told');
      else log.warn({ ...line, items: hidden.items }, 'a mute has ended, and there is nobody to tell what it hid');
    }
    await mutes.told(mute.id, now());
  };

  return async (): Promise<void> => {
    const { over, past } = await muting.note();
    for (const mute of over) await end(mute);
    const old = past.filter(({ toldAt = '' }) => now() - Date.parse(toldAt) > REMEMBERED_MS);
    await mutes.forget(old.map(({ id }) => id));
  };
};
