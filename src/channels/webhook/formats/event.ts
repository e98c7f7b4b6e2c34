/**
 * How bad an alert is for programs, and what Alertmanager does with it: it raises an event, and clears it when a follow-up
 * says that nothing happened. The key of an event has how bad it is, as Alertmanager knows an alert by its labels: a
 * follow-up that is still bad, for better or worse, raises another. Tools that keep incidents see `incident.ts`.
 */
import { type Alert, type Destination, isAnnouncement, isSample, TOCSIN } from '../../../alert.ts';
import { alertId, deliveryId } from '../../../item.ts';
import { severityOf as severityForPeople, statedSeverity } from '../../content/severity.ts';

/** How bad an alert is, in the words that programs share. Most urgent first. Source: https://support.pagerduty.com/main/docs/pd-cef */
export const EVENT_SEVERITIES = ['critical', 'error', 'warning', 'info'] as const;
export type EventSeverity = (typeof EVENT_SEVERITIES)[number];

const OF_ASSESSMENT: Readonly<Record<string, EventSeverity>> = {
  critical: 'critical',
  suspecious: 'warning',
  suspicious: 'warning',
  ok: 'info',
};

/** An assessment that nobody documented may be a bad one. */
export const severityOfAssessment = (assessment: unknown): EventSeverity => {
  const word = typeof assessment === 'string' ? assessment.toLowerCase() : '';
  return (Object.hasOwn(OF_ASSESSMENT, word) ? OF_ASSESSMENT[word] : undefined) ?? 'error';
};

const OF_STATED: Readonly<Record<string, EventSeverity>> = { CRITICAL: 'critical', HIGH: 'error' };

/** The text is foreign: what it says of itself may make it less urgent than one that says nothing, but never silent. */
const severityOfNotification = ({ message }: Alert['item']): EventSeverity => {
  const stated = typeof message === 'string' ? statedSeverity(message) : undefined;
  return stated === undefined ? 'error' : (OF_STATED[stated] ?? 'warning');
};

/** Of a follow-up: how bad it is now; what the service lists no more is not bad any more. */
export const severityOf = (alert: Alert): EventSeverity => {
  const { followUp, item, source } = alert;
  if (isSample(alert)) return 'info';
  if (isAnnouncement(alert)) return severityForPeople(alert).tone === 'trouble' ? 'error' : 'info';
  if (followUp !== undefined) return followUp.is === undefined ? 'info' : severityOfAssessment(followUp.is);
  return source === 'notifications' ? severityOfNotification(item) : severityOfAssessment(item.assessment);
};

export interface EventKey {
  /** The same for an alert at a destination, however often it is sent. Letters, digits, `_`, `-` and `.`. */
  key: string;
  /** How loud it is. */
  severity: EventSeverity;
}

const keyOf = (alert: Alert['id'], { id }: Destination, severity: EventSeverity): EventKey => ({
  key: `${deliveryId(alert, id)}.${severity}`,
  severity,
});

/**
 * That a channel works again names the announcement that it was broken by the key of both, see `announcements/alert.ts`.
 * Other good news does not say what it ends: a service may be read again in part.
 */
export const endedBy = ({ type, itemId }: Alert): Alert['id'] | undefined =>
  type === 'tocsin.destination.well'
    ? alertId(TOCSIN, 'notifications', itemId.replace(/^destination\.well /, 'destination.broken '))
    : undefined;

/** An operator sends what is over: that wakes nobody, under the key of what it repeats. */
const raised = (alert: Alert, first: Alert['id'], destination: Destination): EventKey => {
  const event = keyOf(first, destination, severityOf(alert));
  return alert.replay ? { ...event, severity: 'info' } : event;
};

/** At least one of both. What comes first matters most: an event is raised before another is cleared. */
export const eventChangeOf = (alert: Alert, destination: Destination): { raises?: EventKey; clears?: EventKey } => {
  const { followUp } = alert;
  const ended = endedBy(alert);
  if (ended !== undefined) return { clears: keyOf(ended, destination, 'error') };
  if (followUp === undefined) return { raises: raised(alert, alert.id, destination) };
  const before = keyOf(followUp.of, destination, severityOfAssessment(followUp.was));
  if (severityOf(alert) === 'info') return { clears: before };
  const raises = raised(alert, followUp.of, destination);
  return raises.key === before.key ? { raises } : { raises, clears: before };
};
