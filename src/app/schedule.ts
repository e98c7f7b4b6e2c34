/** Everything that a daemon's schedule can hold; travels through Redis, so any daemon can take it. */
import type { Config } from '../config/schema.ts';
import type { TurnData } from '../poll/turns.ts';
import type { Turn } from '../queue/schedule.ts';

/** `look`: second looks that are due. `audit`: balances the books. */
export type ReviewTurn = { kind: 'look' | 'audit'; service: string };

/** Ends mutes, and sends what was held for destinations that are approved now. */
export type ReleaseTurn = { kind: 'release' };

export type DaemonTurn = TurnData | ReviewTurn | ReleaseTurn;

export const isReview = (turn: DaemonTurn): turn is ReviewTurn => turn.kind === 'look' || turn.kind === 'audit';

const LOOK_EVERY_MS = 15_000;

/** Second looks are an eighth of their first offset late at most. */
const lookEvery = (offsets: readonly number[]): number =>
  Math.max(100, Math.min(LOOK_EVERY_MS, Math.floor(Math.min(...offsets) / 8)));

const RELEASE_EVERY_MS = 5000;

export const hasRecheck = ({ alerts }: Config): boolean =>
  alerts.secondLook.length > 0 && alerts.sources.includes('inspections');

/** Turns that do not depend on which protocols there are. */
export const reviewTurns = (config: Config): Turn<ReviewTurn | ReleaseTurn>[] => [
  { id: 'release', everyMs: RELEASE_EVERY_MS, data: { kind: 'release' } },
  ...config.services.flatMap(({ name: service }, index) => [
    ...(hasRecheck(config)
      ? [
          {
            id: `look.${index}.${service}`,
            everyMs: lookEvery(config.alerts.secondLook),
            data: { kind: 'look', service } as const,
          },
        ]
      : []),
    {
      id: `audit.${index}.${service}`,
      everyMs: config.audit.every,
      data: { kind: 'audit', service } as const,
    },
  ]),
];
