/** How bad it is, by sight and by word. The sign is never the only difference: the word stands beside it. Pure. */
import { type Alert, ANNOUNCEMENTS, type Announcement, isSample } from '../../alert.ts';
import { text } from './field.ts';
import { assessmentWord } from './follow-up.ts';
import { statedSeverity } from './stated-severity.ts';

/** What decides the colour of a message. */
export type Tone = 'critical' | 'suspicious' | 'calm' | 'news' | 'trouble' | 'test';

export interface Severity {
  /** `CRITICAL`, `SUSPICIOUS`, `OK`, `NO LONGER LISTED`, `NOTIFICATION`, `TEST`, `TOCSIN`, or an assessment nobody documented. */
  severity: string;
  tone: Tone;
}

const SIGNS: Readonly<Record<Tone, string>> = {
  critical: '🔴',
  suspicious: '🟠',
  calm: '🟢',
  news: '🔵',
  trouble: '❗',
  test: '🧪',
};

/** One character for people, which `text.ts` leaves as it is; each tone has its own. */
export const signOf = (tone: Tone): string => SIGNS[tone];

const TONES: Readonly<Record<string, Tone>> = {
  CRITICAL: 'critical',
  ...{ SUSPICIOUS: 'suspicious', HIGH: 'suspicious', WARNING: 'suspicious', MEDIUM: 'suspicious' },
  ...{ OK: 'calm', LOW: 'calm', INFO: 'calm' },
};

/** Of an assessment, or of a severity that a text states; any other word is only news. */
export const toneOf = (severity: string): Tone =>
  (Object.hasOwn(TONES, severity) ? TONES[severity] : undefined) ?? 'news';

/** Of an inspection that people had and the service lists no more. A follow-up is called by what the service says now. */
const GONE: Severity = { severity: 'NO LONGER LISTED', tone: 'news' };

/** Words of ours that are no assessments. */
const OWN = ['NOTIFICATION', 'FOLLOW-UP', 'TEST', 'TOCSIN', GONE.severity];

/** One that nobody documented may be spelled like a word of ours: then it stands in quotation marks. */
const assessed = (assessment: string): Severity => {
  const word = assessmentWord(assessment).toUpperCase();
  return { severity: OWN.includes(word) ? `"${word}"` : word, tone: toneOf(word) };
};

/** Announcements that something works again, or that somebody is at it. */
const GOOD: ReadonlySet<Announcement> = new Set<Announcement>([
  'alert.acknowledged',
  'destination.well',
  'service.read',
  'protocol.heard',
  'trouble.over',
  'storm.over',
]);
/** Announcements that ask for nothing urgent. */
const PLAIN: ReadonlySet<Announcement> = new Set<Announcement>(['destination.moved', 'destination.new', 'mute.ended']);

const announced = (type: string): Tone => {
  const about = ANNOUNCEMENTS.find((one) => type === `tocsin.${one}`);
  if (about === undefined) return 'news';
  if (GOOD.has(about)) return 'calm';
  return PLAIN.has(about) ? 'news' : 'trouble';
};

/** What the text of a stored notification says of itself. */
export const statedIn = ({ type, item }: Pick<Alert, 'type' | 'item'>): string | undefined =>
  type.startsWith('notification.') && typeof item.message === 'string' ? statedSeverity(item.message) : undefined;

/**
 * What a message calls an alert, and the tone of its colour. Of an alert whose assessment has changed it is the new one; of a
 * stored notification what its text states, else `NOTIFICATION`. An assessment that nobody documented is its own word.
 */
export const severityOf = (alert: Alert): Severity => {
  const { type, source, item } = alert;
  const changed = alert.reassessed ?? alert.followUp;
  if (isSample(alert)) return { severity: 'TEST', tone: 'test' };
  if (changed) return changed.is === undefined ? GONE : assessed(changed.is);
  if (type.startsWith('tocsin.')) return { severity: 'TOCSIN', tone: announced(type) };
  if (source !== 'notifications') return assessed(text(item.assessment));
  const stated = statedIn(alert);
  return { severity: stated ?? 'NOTIFICATION', tone: stated === undefined ? 'news' : toneOf(stated) };
};

/** Most urgent first. `undefined` stands for every undocumented assessment. */
const KNOWN = [
  ...['CRITICAL', 'HIGH', 'SUSPICIOUS', 'WARNING', 'MEDIUM', undefined],
  ...['NOTIFICATION', 'FOLLOW-UP', GONE.severity, 'LOW', 'INFO', 'OK', 'TEST'],
];

/** A lower rank is more urgent. */
export const rankOf = (severity: string): number => {
  const rank = KNOWN.indexOf(severity);
  return rank < 0 ? KNOWN.indexOf(undefined) : rank;
};
