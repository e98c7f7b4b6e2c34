/** Ends storms: when a destination had several digests and then none for a while, it hears that the last was the last. */
import type { Logger } from 'pino';
import type { Ledger } from '../../ledger/ledger.ts';
import { countedInWords } from '../../text.ts';
import { clockText, iso, spanText } from '../../time.ts';
import type { Announce } from '../announcements/announce.ts';
import type { EndedStorm, Storms } from './store.ts';

export interface StormEndDependencies {
  storms: Pick<Storms, 'quiet' | 'noteWaiting' | 'forget'>;
  ledger: Pick<Ledger, 'waitingByDestination'>;
  announce: Announce;
  log: Pick<Logger, 'error'>;
  now(): number;
}

export const stormOverText = ({ messages, alerts, from, until }: EndedStorm): string =>
  [
    `The storm is over: ${alerts.toLocaleString('en')} alerts came in ${countedInWords(messages, 'message')}.`,
    `From ${spanText(clockText(from), clockText(until))}. Nothing waits here now; the next alerts come one by one again.`,
  ].join('\n');

/** One digest alone was no storm. While alerts wait there, in a batch or for another try, the storm is not over. */
const end = async (storm: EndedStorm, waiting: number, dependencies: StormEndDependencies): Promise<void> => {
  const { storms, announce, now } = dependencies;
  const { destination, messages, from } = storm;
  if (waiting > 0) return storms.noteWaiting(destination);
  const key = `${destination.id} ${iso(from)}`;
  if (messages > 1) await announce({ about: 'storm.over', key, message: stormOverText(storm) }, now(), [destination]);
  await storms.forget(destination);
};

/** Never throws: it is called again in a few seconds. */
export const createStormEnd = (dependencies: StormEndDependencies) => async (): Promise<void> => {
  const { storms, ledger, log } = dependencies;
  try {
    const quiet = await storms.quiet();
    const waiting = quiet.length === 0 ? {} : await ledger.waitingByDestination();
    for (const storm of quiet) await end(storm, waiting[storm.destination.id] ?? 0, dependencies);
  } catch (error) {
    log.error({ err: error }, 'ending storms failed; trying again');
  }
};
