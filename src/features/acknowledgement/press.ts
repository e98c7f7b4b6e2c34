/** What a press of a button does, once it is proven that Tocsin made the button. Any other press does nothing. */
import type { Logger } from 'pino';
import { type ChannelKind, type Mute, muteFacts, scopeText } from '../../alert.ts';
import type { ButtonName, Press, PressAnswer } from '../../channels/channel.ts';
import { UsageError } from '../../errors.ts';
import { createMinuteLimit } from '../../rarely.ts';
import { formatDuration } from '../../schema/fields.ts';
import { clockText } from '../../time.ts';
import { newMute } from '../mutes/new-mute.ts';
import { ACCEPTED, type Acknowledge, type Person } from './acknowledge.ts';
import { isTokenOf, looksLikeToken, muteLengthOf } from './annotation.ts';
import type { AcknowledgementParts, ButtonMessage } from './store.ts';
import { personId, personName, whoText } from './words.ts';

interface PressDependencies
  extends Pick<AcknowledgementParts, 'store' | 'muteRules' | 'mayMute' | 'operatorLog' | 'isOpen' | 'signal' | 'now'> {
  acknowledge: Acknowledge;
  mutes: { add(mute: Mute): Promise<unknown> };
  /** Those that hold now. */
  activeMutes(): Promise<readonly Mute[]>;
  onRefused: OnRefused;
  log: Pick<Logger, 'info' | 'error'>;
}

/** What a press would mute, in a sentence; nothing is muted before `begin`. */
type PlannedMute =
  | { text: string; outcome: 'muted' | 'muted before'; begin(): Promise<void>; refused?: undefined }
  | { refused: string };

const REASON = 'from a button';

const NOTHING = 'No detector fired that could be muted from here.';
const NOT_FROM_HERE = 'That is not muted: nobody has approved this chat. An operator can';

const sameScope = (one: Mute, other: Mute): boolean => scopeText(one) === scopeText(other);

const mutedText = (fresh: readonly Mute[], until: string, others: number): string => {
  const rest = others === 0 ? '' : ' The rest was muted already.';
  return `Muted until ${clockText(until)}: ${fresh.map(scopeText).join(' | ')}.${rest}`;
};

/**
 * The second button: plans a mute of the detectors that fired, for the protocols of the message and `muteLengthOf(muteRules)`.
 * Rejects where Redis fails.
 */
const createMutePlan = ({ muteRules, mutes, activeMutes, operatorLog, now }: PressDependencies) => {
  const length = formatDuration(muteLengthOf(muteRules));

  const begin = async (fresh: readonly Mute[]): Promise<void> => {
    for (const mute of fresh) {
      await mutes.add(mute);
      await operatorLog.record({ action: 'mute-begun', by: 'button', ...muteFacts(mute) });
    }
  };

  return async ({ detectors = [] }: ButtonMessage, { name, userId }: Person): Promise<PlannedMute> => {
    if (detectors.length === 0) return { refused: NOTHING };
    const author = whoText({ by: name, userId });
    let wanted: Mute[];
    try {
      wanted = detectors.map(([protocol, names]) =>
        newMute({ names: { protocol, detectors: names }, reason: REASON, author, for: length }, muteRules, now()),
      );
    } catch (error) {
      if (error instanceof UsageError) return { refused: `That is not muted: ${error.message}.` };
      throw error;
    }
    const active = await activeMutes();
    const fresh = wanted.filter((one) => !active.some((other) => sameScope(one, other)));
    const [first] = fresh;
    const until = active.find((other) => wanted.some((one) => sameScope(one, other)))?.until;
    const text =
      first === undefined
        ? `That is muted already${until === undefined ? '' : `, until ${clockText(until)}`}.`
        : mutedText(fresh, first.until, wanted.length - fresh.length);
    return { text, outcome: first === undefined ? 'muted before' : 'muted', begin: () => begin(fresh) };
  };
};

/** Reports a press or a link that has no effect; strangers can cause as many as they like. `facts` are for the log. */
export type OnRefused = (what: { kind: ChannelKind; reason: RefusalReason }, facts: object) => void;

/**
 * Why a press has no effect; also the label of the metric. `unknown`: no message has this button, or not any more.
 * `elsewhere`: it belongs to another message. `stranger`: the person may not press here. `rule`: the config forbids the
 * mute, or nobody has approved the chat. `late`: it was pressed so long ago that a mute would surprise people. `flood`: this
 * person, or all together, pressed too often within a minute.
 */
export const REFUSAL_REASONS = ['unknown', 'elsewhere', 'stranger', 'rule', 'late', 'flood'] as const;
type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** One sentence for both: a forger learns nothing. */
const NOT_VALID = 'This button does not work any more. Nothing was changed.';
const FAILED: Readonly<Record<ButtonName, string>> = {
  acknowledge: 'That did not work just now. Press again in a moment.',
  // The person may have read that it works; of several mutes some may have begun.
  mute: 'That mute did not work just now: do not count on it. Press again in a moment.',
};
/** Presses within a minute that have any effect; beyond these, so many people read that they did nothing. */
const MOST_PRESSES = { each: 20, all: 600 };
const MOST_WARNINGS = { each: 1, all: 30 };
const TOO_MANY = 'Too many presses within a minute: this one did nothing. Press again in a minute.';

/** Why nothing is done, and what the person reads, if anything. */
interface Refusal {
  reason: RefusalReason;
  text?: string;
}

/** Handles the presses of all kinds; what it gives never rejects. */
export const createPressed = (dependencies: PressDependencies) => {
  const { store, acknowledge, isOpen, mayMute, onRefused, log, signal, now } = dependencies;
  const planMute = createMutePlan(dependencies);
  const presses = createMinuteLimit(now, MOST_PRESSES);
  const warnings = createMinuteLimit(now, MOST_WARNINGS);

  const refusalOf = async (press: Press, kind: ChannelKind, message: ButtonMessage): Promise<Refusal | undefined> => {
    const { destination, alerts, handle } = message;
    const isOurs = destination.kind === kind && isTokenOf(press.token, await store.key(), destination.id, alerts);
    if (!isOurs) return { reason: 'unknown', text: NOT_VALID };
    if (!press.isAt(destination, handle)) return { reason: 'elsewhere', text: NOT_VALID };
    if (!(await isOpen())(destination)) return { reason: 'stranger', text: NOT_VALID };
    const stranger = await press.refusal?.(signal);
    return stranger === undefined ? undefined : { reason: 'stranger', text: stranger };
  };

  const refuse = (
    kind: ChannelKind,
    { name: button, by, userId }: Press,
    { reason, text }: Refusal,
    message?: ButtonMessage,
  ): PressAnswer | undefined => {
    const of = message === undefined ? {} : { destination: message.destination.id, alert: message.alerts[0] };
    const user = personId(userId) || 'unknown';
    onRefused({ kind, reason }, { button, author: personName(by, user), user, ...of });
    return text === undefined ? undefined : { text, isRefused: true };
  };

  /** Where the press may be an old one, the person gets the answer first: if that is too late, nothing is muted. */
  const actMute = async (
    kind: ChannelKind,
    press: Press,
    message: ButtonMessage,
    person: Person,
  ): Promise<PressAnswer | undefined> => {
    const { id: destination } = message.destination;
    const planned = (await mayMute(message.destination))
      ? await planMute(message, person)
      : { refused: `${NOT_FROM_HERE}: tocsin destinations approve ${destination}` };
    if (planned.refused !== undefined) return refuse(kind, press, { reason: 'rule', text: planned.refused }, message);
    const answer = { text: planned.text, isRefused: false };
    if (press.answerFirst !== undefined && !(await press.answerFirst(answer))) {
      return refuse(kind, press, { reason: 'late' }, message);
    }
    await planned.begin();
    const who = { author: person.name, ...(person.userId === undefined ? {} : { user: person.userId }) };
    const facts = { button: press.name, ...who, destination, alert: message.alerts[0] };
    log.info({ kind, outcome: planned.outcome, ...facts }, ACCEPTED);
    return press.answerFirst === undefined ? answer : undefined;
  };

  const act = async (kind: ChannelKind, press: Press): Promise<PressAnswer | undefined> => {
    const message = looksLikeToken(press.token) ? await store.message(press.token) : undefined;
    if (message === undefined) return refuse(kind, press, { reason: 'unknown', text: NOT_VALID });
    const refusal = await refusalOf(press, kind, message);
    if (refusal !== undefined) return refuse(kind, press, refusal, message);
    const userId = personId(press.userId);
    const person = { name: personName(press.by, userId || 'somebody'), ...(userId === '' ? {} : { userId }) };
    if (press.name === 'mute') return actMute(kind, press, message, person);
    return { text: await acknowledge(message, person, 'button'), isRefused: false };
  };

  /** Undefined: the person gets no answer from the caller. */
  return async (kind: ChannelKind, press: Press): Promise<PressAnswer | undefined> => {
    const who = `${kind} ${press.userId}`;
    if (!presses.take(who)) {
      return refuse(kind, press, { reason: 'flood', ...(warnings.take(who) ? { text: TOO_MANY } : {}) });
    }
    try {
      return await act(kind, press);
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, kind, button: press.name }, 'a press could not be handled');
      return { text: FAILED[press.name], isRefused: true };
    }
  };
};
