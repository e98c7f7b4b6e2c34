/** Ends storms: when a destination had several digests and then none for a while, it hears that the last was the last. */
import type { Logger } from 'pino';
import type { Destination } from '../../alert.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { countedInWords } from '../../text.ts';
import { clockText, iso, spanText } from '../../time.ts';
import type { Announce } from '../announcements/announce.ts';
import type { EndedStorm, Storms } from './store.ts';

export interface StormEndDependencies {
  storms: Pick<Storms, 'quiet' | 'noteWaiting' | 'forget'>;
  ledger: Pick<Ledger, 'waitingByDestination'>;
  announce: Announce;
  /** Whether a destination may be sent to: it is approved, or needs no approval. */
  isOpen(): Promise<(destination: Destination) => boolean>;
  /** Its kind can be sent to. */
  isConfigured(destination: Destination): boolean;
  log: Pick<Logger, 'error'>;
  now(): number;
}

/** `The storm is over: 2,160 alerts came in four messages.`, and from when to when. */
export const stormOverText = ({ messages, alerts, from, until }: EndedStorm): string =>
  [
    `The storm is over: ${alerts.toLocaleString('en')} alerts came in ${countedInWords(messages, 'message')}.`,
    `From ${spanText(clockText(from), clockText(until))}. Nothing waits here now; the next alerts come one by one again.`,
  ].join('\n');

/** One digest alone was no storm. While alerts wait there, in a batch or for another try, the storm is not over. */
const end = async (
  storm: EndedStorm,
  { waiting, mayHear }: { waiting: number; mayHear: boolean },
  dependencies: StormEndDependencies,
): Promise<void> => {
  const { storms, announce, now } = dependencies;
  const { destination, messages, from } = storm;
  if (waiting > 0) return storms.noteWaiting(destination);
  const key = `${destination.id} ${iso(from)}`;
  if (messages > 1 && mayHear)
    await announce({ about: 'storm.over', key, message: stormOverText(storm) }, now(), [destination]);
  await storms.forget(destination);
};

/** Never throws: it is called again in a few seconds. */
export const createStormEnd = (dependencies: StormEndDependencies) => async (): Promise<void> => {
  const { storms, ledger, isOpen, isConfigured, log } = dependencies;
  try {
    const quiet = await storms.quiet();
    if (quiet.length === 0) return;
    const waiting = await ledger.waitingByDestination();
    const mayBeSentTo = await isOpen();
    for (const storm of quiet) {
      const { destination } = storm;
      const mayHear = isConfigured(destination) && mayBeSentTo(destination);
      await end(storm, { waiting: waiting[destination.id] ?? 0, mayHear }, dependencies);
    }
  } catch (error) {
    log.error({ err: error }, 'ending storms failed; trying again');
  }
};
