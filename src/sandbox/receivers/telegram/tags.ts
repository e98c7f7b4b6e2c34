/**
 * The tags of Telegram's HTML and what they become.
 * Source: https://core.telegram.org/bots/api#html-style; for the date's letters #date-time-entity-formatting
 */
import type { TelegramEntity } from './entities.ts';
import { checkLink } from './links.ts';

/** The first sentence of the Bot API's description after "Bad Request: can't parse entities: ". */
export class HtmlProblem extends Error {
  override readonly name = 'HtmlProblem';
}

/** What an open tag becomes when it is closed. */
export interface OpenTag {
  name: string;
  attributes: ReadonlyMap<string, string>;
  /** Where its text begins. */
  offset: number;
}

const SIMPLE: Readonly<Record<string, string>> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  'tg-spoiler': 'spoiler',
  span: 'spoiler',
  code: 'code',
  pre: 'pre',
};

const OTHERS = ['a', 'blockquote', 'tg-time'];

export const isTag = (name: string): boolean => Object.hasOwn(SIMPLE, name) || OTHERS.includes(name);

const LATEST = 2 ** 31 - 1;

/** A time that is no number is 0 to Telegram, which then shows the text alone. */
const dateOf = (attributes: ReadonlyMap<string, string>): Pick<TelegramEntity, 'unixTime' | 'format'> | undefined => {
  const format = attributes.get('format') ?? '';
  if (!/^(?:r|R|[tTdDwW]*)$/.test(format)) throw new HtmlProblem('Invalid date format used');
  const unixTime = Number(attributes.get('unix') ?? 0);
  return Number.isSafeInteger(unixTime) && unixTime > 0 && unixTime <= LATEST ? { unixTime, format } : undefined;
};

type Kind = Omit<TelegramEntity, 'offset' | 'length'>;

const kindOf = ({ name, attributes }: OpenTag, text: string): Kind | undefined => {
  switch (name) {
    case 'a': {
      const url = attributes.get('href') || text;
      return checkLink(url) === undefined ? { type: 'text_link', url } : undefined;
    }
    case 'tg-time': {
      const date = dateOf(attributes);
      return date && { type: 'date_time', ...date };
    }
    case 'blockquote':
      return { type: attributes.has('expandable') ? 'expandable_blockquote' : 'blockquote' };
    default:
      return { type: SIMPLE[name] ?? name };
  }
};

/** The entity of a tag that was closed at the end of `text`; undefined where Telegram makes none of it. */
export const entityOf = (tag: OpenTag, text: string): TelegramEntity | undefined => {
  const { offset } = tag;
  const kind = kindOf(tag, text.slice(offset));
  return kind && { ...kind, offset, length: text.length - offset };
};

/** `<pre><code class="language-json">` is one entity: code in a language. */
export const withLanguages = (
  entities: readonly TelegramEntity[],
  languages: ReadonlyMap<TelegramEntity, string>,
): TelegramEntity[] => {
  const same = (one: TelegramEntity, other: TelegramEntity): boolean =>
    one.offset === other.offset && one.length === other.length;
  const isPartOfPre = (entity: TelegramEntity): boolean =>
    languages.has(entity) && entities.some((other) => other.type === 'pre' && same(other, entity));
  return entities.flatMap((entity) => {
    if (isPartOfPre(entity)) return [];
    const code =
      entity.type === 'pre' ? entities.find((other) => languages.has(other) && same(other, entity)) : undefined;
    const language = code && languages.get(code);
    return [language === undefined ? entity : { ...entity, language }];
  });
};
