/**
 * The page behind the link in a mail. Programs that look for dangerous links open every one of them, so opening it changes
 * nothing: the button of its form does. Its signature is all that is needed; nobody has to sign in.
 */
import { sourceOf } from '../../networks.ts';
import { createMinuteLimit } from '../../rarely.ts';
import { cleanLine, counted, type Html, html } from '../../text.ts';
import { type Answer, type Asked, ONLY_READ } from '../answer.ts';
import { READER } from './details.ts';
import { note, problemLine } from './page.ts';
import { readForm } from './session.ts';
import { nothing } from './text.ts';

/** What a link leads to. Texts are from outside. */
export interface LinkedAlerts {
  count: number;
  /** The mailbox. */
  to: string;
  /** One for each alert, of the first few. */
  lines: string[];
  /** Who has acknowledged all of it, in a sentence. */
  done?: string;
  /** Gives a sentence. */
  acknowledge(name: string): Promise<string>;
}

export interface LinkPages {
  /** We made this link, whether it still works or not. Asks nobody else. */
  isSigned(link: string): Promise<boolean>;
  /** Undefined where it leads nowhere any more. */
  find(link: string): Promise<LinkedAlerts | undefined>;
  /** Somebody came with something else. `from`: an IP address. */
  onRefused(from: string): void;
}

export const ACKNOWLEDGE = '/acknowledge/';

/** Of one link and of all together, within a minute. */
const MOST_ASKED = { each: 20, all: 300 };
/** Links that are not ours, of one address and of all: only these are refused, and those beyond are not counted or logged. */
const MOST_WRONG = { each: 5, all: 30 };

const problem = (code: number, title: string, text: string): Answer => note(code, title, READER, problemLine(text));

const INVALID = problem(
  404,
  'This link does not work',
  'It is not whole, or it is too old. Nothing was changed. The mail has all facts; the other messages have buttons.',
);
const TOO_MANY = problem(429, 'Too many requests', 'Wait a minute. Nothing was changed.');

const listOf = (lines: readonly string[]): Html =>
  lines.length === 0 ? nothing : html`<ul>${lines.map((line) => html`<li><bdi>${cleanLine(line)}</bdi></li>`)}</ul>`;

const donePage = (text: string, { lines }: LinkedAlerts): Answer =>
  note(200, 'Acknowledged', READER, html`<p role="status">${cleanLine(text)}</p>${listOf(lines)}`);

/** The form goes where it came from. */
const questionPage = ({ count, to, lines }: LinkedAlerts): Answer =>
  note(
    200,
    `Acknowledge ${counted(count, 'alert')}?`,
    READER,
    html`${listOf(lines)}<p>It then goes to no fallback, and every message about it says who has acknowledged it.</p>
<form method="post"><label>Your name<input name="name" maxlength="80" autocomplete="name" placeholder="${cleanLine(to)}"></label>
<p><button class="primary" type="submit">Acknowledge</button></p></form>`,
  );

/** Answers below `/acknowledge/`, within limits by the minute; who comes with another link than ours is slowed down. */
export const createAcknowledgePage = ({ links, now }: { links: LinkPages; now(): number }) => {
  const asked = createMinuteLimit(now, MOST_ASKED);
  const wrong = createMinuteLimit(now, MOST_WRONG);

  const refuse = (from: string): Answer => {
    if (!wrong.take(sourceOf(from))) return TOO_MANY;
    links.onRefused(from);
    return INVALID;
  };

  const answer = async (link: string, { request }: Asked): Promise<Answer> => {
    const { method, socket } = request;
    if (!(await links.isSigned(link))) return refuse(socket.remoteAddress ?? '');
    if (!asked.take(link)) return TOO_MANY;
    const found = await links.find(link);
    if (found === undefined) return INVALID;
    if (method !== 'POST') return found.done === undefined ? questionPage(found) : donePage(found.done, found);
    const form = await readForm(request);
    if (form === undefined) return problem(400, 'That is no form of this page', 'Nothing was changed.');
    return donePage(await found.acknowledge(form.get('name') ?? ''), found);
  };

  return {
    /** Undefined: it is another page's. */
    answer: (asked: Asked): Promise<Answer> | undefined => {
      const { path, request } = asked;
      if (!path.startsWith(ACKNOWLEDGE)) return undefined;
      if (!['GET', 'HEAD', 'POST'].includes(request.method ?? '')) return Promise.resolve(ONLY_READ);
      return answer(path.slice(ACKNOWLEDGE.length), asked);
    },
  };
};
