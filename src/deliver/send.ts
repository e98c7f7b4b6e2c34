/** Stage: sends a message in the place of an earlier one that it belongs to, else below it, else by itself. */
import type { Alert } from '../alert.ts';
import type { Growth, Message } from '../channels/channel.ts';
import { composeAgain, plainer } from './compose.ts';
import type { AttemptInput, AttemptResult, MessageDependencies, MessageRun, MessageStage } from './stage.ts';
import type { Earlier } from './thread-store.ts';
import type { Recalled, Threads } from './threads.ts';

/** An earlier message is amended within this many tries; then the alerts go out below it rather than wait. */
const AMEND_TRIES = 2;

/** How often, at most, a job waits for another one to finish the message that its alerts belong to. */
const YIELDS = 5;

/** The earlier message with the new alerts in it; undefined where that is not one message, or cannot be changed. */
const grown = async (
  { alerts, sentAt }: Earlier,
  grew: Growth,
  { message, unit }: MessageRun,
  dependencies: MessageDependencies,
): Promise<Message | undefined> => {
  if (alerts.length === 0) return undefined;
  const parcel = { destination: message.destination, alerts: [...alerts, ...message.alerts] };
  const only = await composeAgain(dependencies, parcel, unit.format, sentAt, { grew });
  return only && { ...only, alerts: message.alerts };
};

/** Where it cannot change: a new message that says the whole, and what is new in it. */
const retold = async (
  { alerts, isOutdone }: Earlier,
  { message, unit, composedAt }: MessageRun,
  dependencies: MessageDependencies,
): Promise<unknown> => {
  // What was refused may be refused for what is in the earlier one.
  if (!isOutdone || unit.format !== 'rich') return undefined;
  const parcel = { destination: message.destination, alerts: [...alerts, ...message.alerts] };
  return (await composeAgain(dependencies, parcel, unit.format, composedAt, { heard: alerts.length }))?.body;
};

const inputOf = ({ run, job, message, unit }: MessageRun, now: number): AttemptInput => ({
  message: job.progress === undefined ? message : { ...message, progress: job.progress.after },
  attempt: job.attempt + 1,
  firstTriedAt: job.firstTriedAt ?? now,
  unknownSince: job.unknownSince,
  // Several alerts that were refused together, even in the plainest format, may be taken one by one.
  canBePlainer: plainer(unit.format) !== undefined || message.alerts.length > 1,
  signal: run.signal,
});

/** One attempt at a message with its buttons. `about`: all alerts that it shows. */
const tryIt = async (
  input: AttemptInput,
  about: readonly Alert[],
  { attempt, withButtons }: MessageDependencies,
): Promise<AttemptResult> => {
  if (withButtons === undefined) return attempt(input);
  const { message, sent } = await withButtons(input.message, about, input.amends !== undefined);
  const result = await attempt({ ...input, message });
  if (result.kind !== 'delivered' || result.receipt.handle === undefined) return result;
  // Whoever acknowledges later finds the message by its record. One that fails is told where it is waited for.
  await Promise.allSettled([result.isRepeat]);
  await sent(result.receipt.handle);
  return result;
};

/** `grew`: it is in the earlier message now, where nobody hears of it. */
const sendWith = async (
  each: MessageRun,
  earlier: Earlier | undefined,
  mayAmend: boolean,
  dependencies: MessageDependencies,
): Promise<{ result: AttemptResult; grew?: Growth }> => {
  const at = dependencies.now();
  const input = inputOf(each, at);
  const { alerts } = input.message;
  const grew = { times: (earlier?.grew?.times ?? 0) + 1, at };
  const message = mayAmend && earlier ? await grown(earlier, grew, each, dependencies) : undefined;
  if (message && earlier) {
    const change = { ...input, canBePlainer: true, message, amends: earlier.handle };
    const result = await tryIt(change, [...earlier.alerts, ...alerts], dependencies);
    if (result.kind !== 'plainer') return { result, grew };
  }
  if (earlier === undefined) return { result: await tryIt(input, alerts, dependencies) };
  const body = await retold(earlier, each, dependencies);
  const whole = body === undefined ? {} : { body };
  const reply = { ...input, message: { ...input.message, ...whole, replyTo: earlier.handle } };
  const about = body === undefined ? alerts : [...earlier.alerts, ...alerts];
  return { result: await tryIt(reply, about, dependencies) };
};

/** `recalled`: of a message that is claimed. */
const remember = async (
  { message, composedAt }: MessageRun,
  { result, grew }: Awaited<ReturnType<typeof sendWith>>,
  threads: Threads | undefined,
  recalled: Recalled | undefined,
): Promise<void> => {
  const handle = result.kind === 'delivered' ? result.receipt.handle : undefined;
  if (handle === undefined) return;
  await threads?.remember(message.destination, message.alerts, { handle, sentAt: composedAt, grew }, recalled);
};

export const send: MessageStage = async (each, dependencies) => {
  const { givesHandle = () => true, canAmend = false } = dependencies;
  const { message, job } = each;
  const threads = givesHandle(message.destination.address) ? dependencies.threads : undefined;
  // On one connection, in this order: so the message that is found is the one that is claimed.
  const recalled: Recalled = new Map(each.run.recalled);
  const [claim, earlier] = threads
    ? await Promise.all([
        canAmend ? threads.claim(message.destination, message.alerts) : undefined,
        threads.find(message.destination, message.alerts, canAmend, recalled),
      ])
    : [];
  if (claim === 'taken' && (job.yields ?? 0) < YIELDS) {
    each.result = { kind: 'claimed' };
    return undefined;
  }
  const unclaim = claim === 'taken' ? undefined : claim;
  try {
    // As late as it can be asked: what is sent without it comes twice.
    if (!(await each.run.holdsLock())) return undefined;
    const mayAmend = unclaim !== undefined && job.attempt < AMEND_TRIES;
    const sent = await sendWith(each, earlier, mayAmend, dependencies);
    each.result = sent.result;
    await remember(each, sent, threads, unclaim && recalled);
    if (earlier && sent.result.kind === 'delivered') each.run.shown.push(...message.alerts);
  } finally {
    await unclaim?.();
  }
  return undefined;
};
