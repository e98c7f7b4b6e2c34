/**
 * What a tool for people on call does with an alert: it raises an event, and clears it when a follow-up says that nothing
 * happened. The key of an event has how bad it is: such a tool takes no second event under an open key, and what turns out
 * to be critical must not be taken for a repetition. So a follow-up that is still bad, for better or worse, raises another.
 */
import { type Alert, type Destination, TOCSIN } from '../../../alert.ts';
import { alertId, deliveryId } from '../../../identity.ts';
import { type EventSeverity, severityOf, severityOfAssessment } from './severity.ts';

export interface EventKey {
  /** The same for an alert at a destination, however often it is sent. Letters, digits, `_`, `-` and `.`. */
  key: string;
  /** How loud it is. */
  severity: EventSeverity;
}

/** At least one of both. */
export interface EventChange {
  raises?: EventKey;
  clears?: EventKey;
}

const keyOf = (alert: Alert['id'], { id }: Destination, severity: EventSeverity): EventKey => ({
  key: `${deliveryId(alert, id)}.${severity}`,
  severity,
});

/**
 * That a channel works again names the announcement that it was broken by the key of both, see `announcements/alert.ts`.
 * Other good news does not say what it ends: a service may be read again in part.
 */
const endedBy = ({ type, itemId }: Alert): Alert['id'] | undefined =>
  type === 'tocsin.destination.well'
    ? alertId(TOCSIN, 'notifications', itemId.replace(/^destination\.well /, 'destination.broken '))
    : undefined;

/** An operator sends what is over: that wakes nobody, under the key of what it repeats. */
const raised = (alert: Alert, first: Alert['id'], destination: Destination): EventKey => {
  const event = keyOf(first, destination, severityOf(alert));
  return alert.replay ? { ...event, severity: 'info' } : event;
};

/** What comes first matters most: an event is raised before another is cleared. */
export const eventChangeOf = (alert: Alert, destination: Destination): EventChange => {
  const { followUp } = alert;
  const ended = endedBy(alert);
  if (ended !== undefined) return { clears: keyOf(ended, destination, 'error') };
  if (followUp === undefined) return { raises: raised(alert, alert.id, destination) };
  const before = keyOf(followUp.of, destination, severityOfAssessment(followUp.was));
  if (severityOf(alert) === 'info') return { clears: before };
  const raises = raised(alert, followUp.of, destination);
  return raises.key === before.key ? { raises } : { raises, clears: before };
};
