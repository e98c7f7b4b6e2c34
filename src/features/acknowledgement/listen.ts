/**
 * Receives the presses of one kind for all daemons: one of them listens, and another takes over when it is gone. Telegram
 * gives its updates to one reader only, and one connection is all that Slack needs.
 */
import type { Logger } from 'pino';
import type { ChannelKind } from '../../alert.ts';
import type { Buttons, Press, PressAnswer } from '../../channels/channel.ts';
import { messageOf } from '../../errors.ts';
import type { Conditions } from '../../ops/conditions.ts';
import type { HeldLock, Locks } from '../../redis/lock.ts';
import type { AcknowledgementParts } from './store.ts';

interface ListenerDependencies extends Pick<AcknowledgementParts, 'scrub' | 'signal' | 'sleep'> {
  kind: ChannelKind;
  buttons: Pick<Buttons, 'listen'>;
  onPress(press: Press): Promise<PressAnswer | undefined>;
  locks: Pick<Locks, 'take'>;
  conditions: Pick<Conditions, 'report' | 'over'>;
  log: Pick<Logger, 'info' | 'warn'>;
  /** The answer to a press did not arrive; as often as people press. */
  onUnanswered(facts: { kind: ChannelKind; why: string }): void;
}

/** Another daemon listens as long as it holds the lock. */
const ASK_AGAIN_MS = 1000;
/** From the beginning of one connection to that of the next, at least. */
const LEAST_INTERVAL_MS = 1000;
/** A connection that ends sooner has failed; one that is open for so long works. */
const HOLDS_MS = 10_000;
const LONGEST_PAUSE_MS = 30_000;

const pauseAfter = (failures: number): number => Math.min(LONGEST_PAUSE_MS, 500 * 2 ** Math.min(failures, 10));

const ENDED_AT_ONCE = new Error('the connection ended as soon as it was open');

/** Runs until `signal` aborts; never rejects. */
export const listenForPresses = async (dependencies: ListenerDependencies): Promise<void> => {
  const { kind, buttons, onPress, locks, conditions, scrub, log, onUnanswered, signal, sleep } = dependencies;
  let failures = 0;

  const onHolds = (): void => {
    if (failures > 0) log.info({ kind }, 'presses of buttons arrive again');
    failures = 0;
    conditions.over('buttons', kind);
  };

  const onFailure = (error: unknown): void => {
    const why = scrub(messageOf(error));
    if (failures === 0) log.warn({ kind, why }, 'presses of buttons do not arrive; trying again');
    failures += 1;
    conditions.report('buttons', `presses of buttons on ${kind} do not arrive`, { why, of: kind });
  };

  const onProblem = (error: unknown): void => onUnanswered({ kind, why: scrub(messageOf(error)) });

  /** One connection. What opens and breaks again and again does not work. */
  const connect = async (held: AbortSignal): Promise<void> => {
    const ended = new AbortController();
    const until = AbortSignal.any([held, ended.signal]);
    let isOpen = false;
    let holds = false;
    const onOpen = (): void => {
      if (isOpen) return;
      isOpen = true;
      void sleep(HOLDS_MS, until).then(() => {
        if (until.aborted) return;
        holds = true;
        onHolds();
      });
    };
    try {
      await buttons.listen({ onPress, onOpen, onProblem }, held);
      if (!held.aborted && !holds) onFailure(ENDED_AT_ONCE);
    } catch (error) {
      if (!held.aborted) onFailure(error);
    } finally {
      ended.abort();
    }
  };

  /** As long as the lock is held: one connection after another. */
  const listen = async (lock: HeldLock): Promise<void> => {
    // Where it is lost, somebody else listens by then.
    const held = AbortSignal.any([signal, lock.lost]);
    try {
      while (!held.aborted) {
        const interval = sleep(LEAST_INTERVAL_MS, held);
        await connect(held);
        if (failures > 0) await sleep(pauseAfter(failures), held);
        await interval;
      }
    } finally {
      conditions.over('buttons', kind);
      await lock.release().catch(() => {});
    }
  };

  while (!signal.aborted) {
    const lock = await locks.take([`presses ${kind}`]).catch(() => undefined);
    if (lock !== undefined) await listen(lock);
    await sleep(ASK_AGAIN_MS, signal);
  }
};
