/** What people read about several announcements of one kind that waited for their destination: one text. Pure. */
import type { Alert } from '../../alert.ts';
import { cleanLine, shorten } from '../../text.ts';
import type { Content } from './content.ts';

/** Up to this many are told whole; of more, only their first lines, which stand alone. */
const WHOLE_MAX = 5;
const LINE_LIMIT = 300;

/** A mute report lists what the mute hid: no line of it is left out. */
export const isMuteReport = ({ type }: Pick<Alert, 'type'>): boolean => type === 'tocsin.mute.ended';

const firstLineOf = (message: string): string => shorten(cleanLine(message.split('\n', 1)[0] ?? ''), LINE_LIMIT);

/** The contents of announcements as one. Never empty. */
export const uniteAnnouncements = (alerts: readonly Alert[], contents: readonly Content[]): Content => {
  const [first] = contents;
  if (first === undefined) throw new Error('a message has at least one alert');
  if (contents.length === 1) return first;
  const messages = contents.map(({ message = '' }) => message);
  const isShort = messages.length > WHOLE_MAX && !alerts.every(isMuteReport);
  const texts = isShort
    ? [messages.map((message) => `- ${firstLineOf(message)}`).join('\n'), 'Now: tocsin status']
    : messages;
  const lines = contents.map(({ messageLines = [] }, index) => (index === 0 ? messageLines : [[], ...messageLines]));
  const title = `${first.title}: ${contents.length} messages`;
  const happened = `the first: ${firstLineOf(messages[0] ?? '')}`;
  const { messageLines: _messageLines, ...rest } = first;
  const whole = { ...rest, title, happened, headline: `${title}, ${happened}`, message: texts.join('\n\n') };
  return isShort ? whole : { ...whole, messageLines: lines.flat() };
};
