/** What people call a chat, from the answer to `getChat`: text from outside. Pure. */
import { cleanLine, shorten } from '../../text.ts';
import { objectIn, textIn } from '../outside.ts';

const NAME_LIMIT = 60;

const lineIn = (value: unknown): string => cleanLine(textIn(value));

/** The title of a group or channel, the name of a person. Source: https://core.telegram.org/bots/api#chatfullinfo */
export const chatName = (chat: unknown): string | undefined => {
  const { title, first_name, last_name, username } = objectIn(chat);
  const person = [first_name, last_name]
    .map(lineIn)
    .filter((part) => part !== '')
    .join(' ');
  const handle = lineIn(username);
  const name = lineIn(title) || person || (handle === '' ? '' : `@${handle}`);
  return name === '' ? undefined : shorten(name, NAME_LIMIT);
};
