/**
 * Which alerts arrive without a sound, at every kind that can do that: good news. Only our own words decide it, never a
 * text from outside. A replay makes a sound, for it may be the first that anybody hears of it.
 */
import { type Alert, isAnnouncement, isPlayedDown } from '../alert.ts';
import { severityOf } from './content/severity.ts';

/** True for our own downgrades, and for announcements that something works again. */
export const isQuiet = (alert: Alert): boolean => {
  if (alert.followUp) return isPlayedDown(alert);
  return isAnnouncement(alert) && severityOf(alert).tone === 'calm';
};
