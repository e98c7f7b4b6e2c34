/** What happened to a delivery, as people read it: its attempts, and what operators and mutes did. Pure. */
import type { Act, Attempt } from '../../ledger/record.ts';
import { cleanLine } from '../../text.ts';
import type { TracedDelivery } from './trace.ts';

const ACTS: Record<Act['act'], string> = {
  retried: 'retried by hand',
  replayed: 'replayed by hand',
  dropped: 'dropped by hand',
  muted: 'muted',
};

const actText = ({ act, by, reason = '' }: Act): string =>
  by === undefined ? ACTS[act] : `${ACTS[act]} by ${by}: ${cleanLine(reason)}`;

const OUTCOMES: Record<Attempt['outcome'], string> = {
  delivered: 'delivered',
  retrying: 'failed, will be tried again',
  dead: 'failed for good',
};

const because = ({ reason, code, message }: Attempt): string[] => {
  if (reason === undefined) return [];
  const sameWord = code === undefined || code === reason;
  const word = sameWord ? reason : `${reason} (${code})`;
  return [message === undefined ? word : `${word}: ${cleanLine(message)}`];
};

const attemptLine = (attempt: Attempt): string =>
  [
    `${OUTCOMES[attempt.outcome]}${attempt.replay ? ', as a replay' : ''}, ${attempt.durationMs} ms`,
    ...(attempt.providerId === undefined ? [] : [`message id ${cleanLine(attempt.providerId)}`]),
    ...because(attempt),
    ...(attempt.maybeDelivered ? ['maybe delivered: it was sent, but no answer came'] : []),
  ].join('; ');

/** Attempts and what was done by hand, in order of time. */
export const historyOf = ({
  attempts,
  acts = [],
}: Pick<TracedDelivery, 'attempts' | 'acts'>): { at: string; text: string }[] =>
  [
    ...attempts.map((attempt) => ({ at: attempt.at, text: attemptLine(attempt) })),
    ...acts.map((act) => ({ at: act.at, text: actText(act) })),
  ].toSorted((a, b) => a.at.localeCompare(b.at));
