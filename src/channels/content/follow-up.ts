/** The words of a follow-up: how a finding changed after people were alerted to it. */
import type { FollowUp } from '../../alert.ts';
import { shorten } from '../../text.ts';
import { inlineName } from './names.ts';

/** Documented words have at most ten characters. */
const WORD_LIMIT = 40;

/**
 * The service spells the middle assessment `suspecious`; people read `suspicious`. One that nobody documented has no brackets:
 * `(was CRITICAL)` is ours.
 */
export const assessmentWord = (assessment: string): string => {
  const word = inlineName(assessment).replace(/[()[\]]/g, '');
  return shorten((word.trim() || 'unknown').replace(/^suspecious$/i, 'suspicious'), WORD_LIMIT);
};

export interface FollowUpWords {
  /** Behind a title, which says what the assessment is and was. */
  news: string;
  /** A sentence: that this is a follow-up, and what changed. The title says what it was. */
  notice: string;
}

const NEWS = 'follow-up to an alert that you had';

/** What a follow-up says in place of what happened. */
export const followUpWords = ({ is }: FollowUp): FollowUpWords => {
  const says = is === undefined ? 'no longer lists this inspection' : `calls it ${assessmentWord(is)} now`;
  return { news: NEWS, notice: `Follow-up: the service ${says}.` };
};
