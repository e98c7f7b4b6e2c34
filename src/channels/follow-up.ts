/** The words of a follow-up: how a finding changed after people were alerted to it. */
import type { FollowUp } from '../alert.ts';
import { cleanLine } from '../text.ts';

/** The service spells the middle assessment `suspecious`; people read `suspicious`. */
export const assessmentWord = (assessment: string): string =>
  (cleanLine(assessment) || 'unknown').replace(/^suspecious$/i, 'suspicious');

export interface FollowUpWords {
  /** For the first line. */
  news: string;
  /** A sentence or two: that this is a follow-up, and what changed. */
  notice: string;
}

export const followUpWords = ({ was, is }: FollowUp): FollowUpWords => {
  const before = assessmentWord(was);
  if (is === undefined) {
    return {
      news: `no longer listed (was ${before.toUpperCase()})`,
      notice: `Follow-up to an alert you had: the service no longer lists this inspection. It was assessed as ${before}.`,
    };
  }
  const now = assessmentWord(is);
  return {
    news: `now ${now.toUpperCase()} (was ${before.toUpperCase()})`,
    notice: `Follow-up to an alert you had: the service now assesses this inspection as ${now}. It was ${before} before.`,
  };
};
