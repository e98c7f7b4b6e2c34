/**
 * Text from outside as mails have it. A mailbox's filter may take a mail for junk by the words in it, and who writes to the
 * service chooses these. So no host name stands as it is, and no long run of characters stays whole: people read both all
 * the same. What is ours stays as it is, but for what it quotes. Pure.
 */
import { isObject } from '../../alert.ts';
import { mapSliced, type Sliced } from '../../chunks.ts';
import type { Content } from '../content/content.ts';
import type { DigestContent } from '../digest-content.ts';

/** Within a host name; in a URL within an IP address, too. */
const HOST_DOTS = /(?<=[\p{L}\p{N}])\.(?=\p{L}[\p{L}\p{N}-])|(?<=:\/\/[\d.]{1,12})\./gu;

const RUN_LIMIT = 40;
/** Filters know their test texts (GTUBE, EICAR) by all of one run. Looked for where a run begins: from each character it takes ten times as long. */
const LONG = /(?<!\S)\S{41,}/g;
/** Hashes, addresses and the data of calls stay whole, to be copied. */
const HEX = /((?:0x)?[\da-f]{40,})/i;

const broken = (run: string): string =>
  run
    .split(HEX)
    .map((part) => (HEX.test(part) ? part : part.replace(/.{40}(?=.)/gsu, '$& ')))
    .join('');

/** `https://evil[.]example[.]com/login` */
export const defang = (text: string): string => {
  const dotless = text.includes('.') ? text.replace(HOST_DOTS, '[.]') : text;
  return dotless.length <= RUN_LIMIT ? dotless : dotless.replace(LONG, broken);
};

const inQuotes = (text: string): string => text.replace(/“[^”]*”/g, defang);

/** Addresses that lead somewhere, and what is copied, are ours. */
const KEPT: ReadonlySet<string> = new Set(['url', 'copy', 'links']);

const defanged = <T>(value: T, change: (text: string) => string): T => {
  const inner = (one: unknown, key = ''): unknown => {
    if (typeof one === 'string') return key === 'notice' ? inQuotes(one) : change(one);
    if (Array.isArray(one)) return one.map((each: unknown) => inner(each));
    if (!isObject(one)) return one;
    const copy = { ...one };
    for (const name of Object.keys(copy)) if (!KEPT.has(name)) copy[name] = inner(copy[name], name);
    return copy;
  };
  return inner(value) as T;
};

export const defangContent = <T extends Pick<Content, 'isOurs'>>(content: T): T =>
  defanged(content, content.isOurs ? inQuotes : defang);

export function* defangDigest(content: DigestContent): Sliced<DigestContent> {
  return { ...defanged({ ...content, items: [] }, defang), items: yield* mapSliced(content.items, defangContent) };
}
