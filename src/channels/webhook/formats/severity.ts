/** How bad an alert is, in the words that programs share: those of PagerDuty's common event format. */
import { type Alert, isAnnouncement, isSample } from '../../../alert.ts';
import { severityOf as severityForPeople } from '../../content/severity.ts';
import { statedSeverity } from '../../content/stated-severity.ts';

/** Most urgent first. Source: https://support.pagerduty.com/main/docs/pd-cef */
export const EVENT_SEVERITIES = ['critical', 'error', 'warning', 'info'] as const;
export type EventSeverity = (typeof EVENT_SEVERITIES)[number];

/** An assessment that nobody documented may be a bad one. */
export const severityOfAssessment = (assessment: unknown): EventSeverity => {
  switch (typeof assessment === 'string' ? assessment.toLowerCase() : undefined) {
    case 'critical':
      return 'critical';
    case 'suspecious':
    case 'suspicious':
      return 'warning';
    case 'ok':
      return 'info';
    default:
      return 'error';
  }
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
