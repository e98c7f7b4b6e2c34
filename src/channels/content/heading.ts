/** The title of a message: severity, protocol and contract; and what happened, in one line. Pure. */
import { shorten } from '../../text.ts';
import { type Content, type Detection, fairShares } from './content.ts';
import { UNKNOWN } from './field.ts';
import type { Contract } from './finding.ts';
import { followUpWords } from './follow-up.ts';
import { inlineName, shortenHex, shortHex } from './names.ts';
import type { Presentation } from './presentation.ts';
import type { Reading } from './reading.ts';
import { saidLine } from './said.ts';
import { type Severity, signOf } from './severity.ts';

const HAPPENED_LIMIT = 240;
/** More have no room in one line. */
const PHRASES_MAX = 20;

const sentenceless = (said: string): string => shortenHex(saidLine(said)).replace(/[.;\s]+$/, '');

/** What each detector said, in one line; a long text does not push out the others. */
const happenedOf = (detections: readonly Detection[]): string => {
  const phrases = detections.slice(0, PHRASES_MAX).map(({ name, message }) => sentenceless(message) || name);
  const shares = fairShares(
    phrases.map(({ length }) => length),
    HAPPENED_LIMIT - 2 * phrases.length,
  );
  const shown = phrases.map((phrase, index) => shorten(phrase, shares[index] ?? 0)).filter((phrase) => phrase !== '');
  return shorten(shown.join('; '), HAPPENED_LIMIT) || 'no detector named';
};

/** `Pool A`, `0x1807…cc1B`, `Pool A + 2 more`; nothing where several protocols have nothing in common. */
const contractTitle = (contracts: readonly Contract[], protocols: number): string | undefined => {
  const [first, ...others] = contracts;
  if (first === undefined || (protocols > 1 && others.length > 0)) return undefined;
  const name = inlineName(first.name ?? shortHex(first.at?.whole ?? ''));
  return others.length === 0 ? name : `${name} + ${others.length} more`;
};

const protocolTitle = ([first = UNKNOWN, ...others]: readonly string[]): string =>
  others.length === 0 ? inlineName(first) : `${inlineName(first)} + ${others.length} more`;

interface Heading extends Severity {
  isReplay: boolean;
  was?: string;
  protocols: readonly string[];
  contract?: string | undefined;
  happened: string;
}

type Titled = Pick<
  Content,
  | 'severity'
  | 'tone'
  | 'sign'
  | 'word'
  | 'was'
  | 'prefix'
  | 'protocol'
  | 'contract'
  | 'where'
  | 'title'
  | 'happened'
  | 'headline'
>;

/** Severity, protocol and contract in one line, and with what happened. */
export const titled = (heading: Heading, { prefixOf }: Presentation): Titled => {
  const { severity, tone, isReplay, was, protocols, contract, happened } = heading;
  const prefix = prefixOf(protocols[0] ?? '');
  const sign = signOf(tone);
  const remarks = [...(isReplay ? ['replay'] : []), ...(was === undefined ? [] : [`was ${was}`])];
  const word = remarks.length === 0 ? severity : `${severity} (${remarks.join(', ')})`;
  const protocol = protocolTitle(protocols);
  const where = contract === undefined ? protocol : `${protocol} · ${contract}`;
  const title = `${prefix === undefined ? '' : `${prefix} `}${sign} ${word} · ${where}`;
  return {
    ...{ severity, tone, sign, word, protocol, where, title, happened, headline: `${title}: ${happened}` },
    ...(prefix === undefined ? {} : { prefix }),
    ...(was === undefined ? {} : { was }),
    ...(contract === undefined ? {} : { contract }),
  };
};

/** The title of what was read, and what happened. */
export const headingOf = (reading: Reading, presentation: Presentation): Titled => {
  const { protocols, finding, detections, followUp } = reading;
  const contract = contractTitle(finding.contracts, protocols.length);
  const happened = followUp ? followUpWords(followUp).news : happenedOf(detections);
  return titled({ ...reading, contract, happened }, presentation);
};

/** The first line of a text, which stands alone. */
export const firstLine = (message: string): string =>
  shorten(sentenceless(message.split('\n', 1)[0] ?? ''), HAPPENED_LIMIT);
