/** Every turn that reads the services: what is asked, how often, and when within its interval. */
import type { Source } from '../alert.ts';
import { contentId } from '../identity.ts';
import type { Catalog } from './catalog.ts';
import type { Stream } from './poller.ts';
import { streamsOf } from './streams.ts';

/** The work of one turn; travels through Redis, so any daemon can take it. */
export type TurnData = { kind: 'catalog'; service: string } | { kind: 'poll'; stream: Stream };

export interface IntakeTurn {
  id: string;
  everyMs: number;
  /** When in its `everyMs` it comes, in milliseconds. */
  offsetMs?: number;
  data: TurnData;
}

export interface IntakeSettings {
  services: readonly string[];
  sources: readonly Source[];
  /** Milliseconds between two polls of a stream. */
  interval: number;
  /** Milliseconds between two listings of a service's protocols. */
  catalogEvery: number;
}

/** Over this many milliseconds the polls of one interval are spread; two for each where that is more. */
const SPREAD_MS = 2000;
const APART_MS = 2;

/**
 * Polls that all came at once would wait for each other, and their alerts with them. Notifications come first: the
 * transactions that they name are then in the poll of inspections that follows.
 */
export const pollTurns = (streams: readonly Stream[], everyMs: number): IntakeTurn[] => {
  const spreadMs = Math.min(everyMs - 1, Math.max(SPREAD_MS, APART_MS * streams.length));
  return streams.map((stream) => {
    const key = contentId(stream.service, stream.source, ...stream.protocols);
    const place = stream.source === 'notifications' ? 0 : Number.parseInt(key.slice(0, 8), 16) % spreadMs;
    return { id: `poll.${key}`, everyMs, offsetMs: 1 + place, data: { kind: 'poll', stream } };
  });
};

/** Every turn that the present catalog asks for. */
export const planTurns = async (
  { services, sources, interval, catalogEvery }: IntakeSettings,
  catalog: Pick<Catalog, 'protocols'>,
): Promise<IntakeTurn[]> => {
  const turns = await Promise.all(
    services.map(async (service): Promise<IntakeTurn[]> => {
      const names = [...(await catalog.protocols(service)).keys()];
      return [
        { id: `catalog.${contentId(service)}`, everyMs: catalogEvery, data: { kind: 'catalog', service } },
        ...pollTurns(streamsOf(service, names, sources), interval),
      ];
    }),
  );
  return turns.flat();
};
