/** What people read about several announcements of one kind that waited for their destination: one text. Pure. */
import { type Alert, isAnnouncement } from '../alert.ts';
import { cleanLine, shorten } from '../text.ts';
import type { Content } from './content.ts';

/** Up to this many are told whole; of more, only their first lines, which stand alone. */
const WHOLE_MAX = 5;
const LINE_LIMIT = 300;

/** A mute report lists what the mute hid: no line of it is left out. */
export const isMuteReport = ({ type }: Pick<Alert, 'type'>): boolean => type === 'tocsin.mute.ended';

const firstLineOf = (message: string): string => shorten(cleanLine(message.split('\n', 1)[0] ?? ''), LINE_LIMIT);

/** The contents of several announcements as one; undefined where that is not what these are. */
export const uniteAnnouncements = (alerts: readonly Alert[], contents: readonly Content[]): Content | undefined => {
  const [first] = contents;
  if (first === undefined || contents.length < 2 || !alerts.every(isAnnouncement)) return undefined;
  const messages = contents.map(({ message = '' }) => message);
  const headline = `${first.title}: ${contents.length} messages, the first: ${firstLineOf(messages[0] ?? '')}`;
  const isShort = messages.length > WHOLE_MAX && !alerts.every(isMuteReport);
  const texts = isShort
    ? [messages.map((message) => `- ${firstLineOf(message)}`).join('\n'), 'Now: tocsin status']
    : messages;
  const title = `${first.title}: ${contents.length} messages`;
  return { ...first, headline, title, message: texts.join('\n\n') };
};
