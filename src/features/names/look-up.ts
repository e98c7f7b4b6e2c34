/** Asks the providers what they call the destinations that alerts are routed to: a few at a time, each once a day. */
import type { Logger } from 'pino';
import type { Destination } from '../../alert.ts';
import type { Channel } from '../../channels/channel.ts';
import { DeliveryError, isPassing } from '../../errors.ts';
import { cleanLine, shorten } from '../../text.ts';
import type { NameStore } from './store.ts';

export interface LookUpDependencies {
  names: Pick<NameStore, 'due' | 'note'>;
  channels: readonly Pick<Channel, 'kind' | 'nameOf'>[];
  /** Where alerts go now. */
  destinations(): readonly Destination[];
  log: Pick<Logger, 'info'>;
}

/** In one round; a provider's limits are for messages. */
const MOST_AT_ONCE = 10;
const TIMEOUT_MS = 10_000;
const NAME_LIMIT = 80;

/** The token may not ask: one line says so, not one for each destination. */
const NOT_ALLOWED = 'missing_scope';

/** As it is shown: one short line. */
const shownName = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : shorten(cleanLine(name), NAME_LIMIT) || undefined;

/** Gives one round, to be called again and again: at most ten names, each within ten seconds. */
export const createNameLookUp = ({ names, channels, destinations, log }: LookUpDependencies) => {
  const refused = new Set<string>();
  /** Those that had no answer in the last rounds: others are asked for first, or one would hold up its whole kind. */
  let unanswered = new Set<Destination['id']>();

  /** False where the provider cannot be asked now. */
  const lookUp = async (
    { id, kind, address }: Destination,
    nameOf: NonNullable<Channel['nameOf']>,
    signal: AbortSignal,
  ): Promise<boolean> => {
    let name: string | undefined;
    unanswered.delete(id);
    try {
      name = await nameOf(address, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
    } catch (error) {
      // It says nothing about the name, which is asked for again soon. After any other answer it has none for a day.
      if (isPassing(error) || signal.aborted) {
        unanswered.add(id);
        return false;
      }
      if (error instanceof DeliveryError && error.code === NOT_ALLOWED && !refused.has(kind)) {
        refused.add(kind);
        log.info(
          { kind, message: error.message },
          'names of destinations are not shown: the token may not ask for them',
        );
      }
    }
    await names.note(id, shownName(name));
    return true;
  };

  /** One round. Throws where Redis fails. */
  return async (signal: AbortSignal): Promise<void> => {
    const asking = new Map(channels.flatMap(({ kind, nameOf }) => (nameOf ? [[kind, nameOf] as const] : [])));
    const routed = new Map(destinations().flatMap((one) => (asking.has(one.kind) ? [[one.id, one] as const] : [])));
    if (routed.size === 0) return;
    const silent = new Set<string>();
    unanswered = new Set([...unanswered].filter((id) => routed.has(id)));
    const first = [...routed.keys()].filter((id) => !unanswered.has(id));
    for (const id of (await names.due([...first, ...unanswered])).slice(0, MOST_AT_ONCE)) {
      const one = routed.get(id);
      const nameOf = one && asking.get(one.kind);
      if (signal.aborted || !one || !nameOf || silent.has(one.kind)) continue;
      if (!(await lookUp(one, nameOf, signal))) silent.add(one.kind);
    }
  };
};
