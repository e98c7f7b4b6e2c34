/** Composes the mails of a parcel: subject, thread, list and footer around the text. */
import { type Alert, type Destination, isAnnouncement, isSample, type Parcel } from '../../alert.ts';
import { atOnce, type Sliced } from '../../chunks.ts';
import { contentId } from '../../item.ts';
import { cleanLine, quotedName, shorten, shortenMiddle } from '../../text.ts';
import type { ComposeContext, ComposePreview, Message } from '../channel.ts';
import type { Content } from '../content/content.ts';
import { describeIncident } from '../content/describe.ts';
import { UNKNOWN } from '../content/foreign.ts';
import { describeNews } from '../content/news.ts';
import { type Wording, wordingOf } from '../content/reading.ts';
import type { Tone } from '../content/severity.ts';
import { describeDigest } from '../digest.ts';
import type { DigestContent } from '../digest-content.ts';
import { messagesOf } from '../incidents.ts';
import type { MailBody } from './body.ts';
import { defang, defangContent, defangDigest } from './defang.ts';
import { digestParts } from './digest.ts';
import { withAcknowledgeLink } from './page.ts';
import { singleParts } from './single.ts';

/** Longer subjects are cut by most mail programs anyway. */
export const SUBJECT_LIMIT = 120;

const HASH_SHOWN = { head: 6, tail: 4 };
const ID_SHOWN = 8;

/** The transaction, shortened as everywhere; what names none has the beginning of our id, an announcement nothing. */
export const markOf = ([first]: readonly Alert[]): string => {
  if (first === undefined || isAnnouncement(first)) return '';
  const hash = cleanLine(first.txHash ?? '');
  // Every sample names the same transaction.
  return hash === '' || isSample(first) ? first.id.slice(0, ID_SHOWN) : shortenMiddle(hash, HASH_SHOWN);
};

/** What stands in brackets, and what behind the protocol: `[CRITICAL]` of a follow-up stays the word that rules look for. */
const wordsOf = ({ severity, word, was }: Content): [label: string, remark: string] => {
  const remark = ` (was ${was})`;
  return was !== undefined && word === `${severity}${remark}` ? [severity, remark] : [word, ''];
};

/**
 * `[CRITICAL] Lending Pool · Pool A: balance dropped by 90 %`. Without the sign: some mail programs show none in a subject,
 * and rules of people's mailboxes look for the word.
 */
const headlineOf = (content: Content): string => {
  const { prefix, where, subject = where, said, isOurs, isTitled, sign, headline } = content;
  if (isTitled) return headline;
  if (isOurs) return headline.slice(sign.length).trim();
  const [label, remark] = wordsOf(content);
  return `${prefix === undefined ? '' : `${prefix} `}[${label}] ${subject}${remark}: ${said}`;
};

const digestHeadline = ({ severity, lead, items: [worst] }: DigestContent): string => {
  const head = `[${severity}] ${lead}`;
  return worst === undefined ? head : `${head}, worst: ${quotedName(worst.protocol)}: ${worst.said}`;
};

/** The mark is never cut off. */
export const subjectOf = (headline: string, mark: string): string => {
  const end = mark === '' ? '' : ` (${mark})`;
  return `${shorten(cleanLine(headline), SUBJECT_LIMIT - end.length)}${end}`;
};

/** `destination.broken` and `destination.well` are one family; what it is about is the first word of its key. */
const announcedOf = ({ type, itemId }: Alert): { family: string; about: string } => {
  const [, family = ''] = type.split('.');
  const [, about = ''] = itemId.split(' ');
  // The key of a trouble is a moment, and several troubles may be one message.
  return { family, about: family === 'trouble' ? '' : about };
};

/** A hash alone, without its chain: so a notification, which names no chain, is in the thread of its transaction. */
const subjectMatterOf = (alerts: readonly Alert[]): string[] => {
  const only = <T>(values: readonly T[]): T | undefined => (new Set(values).size === 1 ? values[0] : undefined);
  const hash = only(alerts.map(({ txHash }) => txHash));
  if (hash !== undefined) return ['transaction', hash];
  if (!alerts.every(isAnnouncement)) {
    return ['alerts', ...alerts.map(({ id, followUp }) => followUp?.of ?? id).toSorted()];
  }
  const announced = alerts.map(announcedOf);
  const [family, about] = [only(announced.map((one) => one.family)), only(announced.map((one) => one.about))];
  return ['announcement', family ?? '', about ?? ''];
};

/**
 * The same for all mails about one transaction, or about one thing of ours, to a mailbox. Every client groups mails that refer
 * to one message, so all mails of a thread refer to a root that is never sent. Gmail also wants one subject: so the handle
 * of a mail has, besides its Message-ID, the subject of the first.
 */
export const threadIdOf = (alerts: readonly Alert[], { id }: Pick<Destination, 'id'>): string =>
  `thread_${contentId('thread', ...subjectMatterOf(alerts), id)}`;

/** The mail that a thread began with, as far as later ones need it. */
export interface First {
  subject: string;
  isUrgent: boolean;
}

interface Earlier {
  /** With its angle brackets. */
  messageId: string;
  first: First;
}

/** A handle comes back from Redis and goes into headers, so its form is checked. */
const HANDLE = /^(<[\w.@-]{1,250}>) (high|normal) (\S.*)$/;

/** `<id> high SUBJECT`: what later mails need of the first. */
export const handleOf = (messageId: string, { subject, isUrgent }: First): string =>
  `${messageId} ${isUrgent ? 'high' : 'normal'} ${subject}`;

/** Undefined for anything that is no handle of ours. */
export const readHandle = (handle: string): Earlier | undefined => {
  const [found, messageId = '', importance, subject = ''] = HANDLE.exec(handle) ?? [];
  if (found === undefined) return undefined;
  return { messageId, first: { subject: shorten(cleanLine(subject), SUBJECT_LIMIT), isUrgent: importance === 'high' } };
};

/**
 * What a mail is in its thread: it goes on in the first one's name. One that is more urgent than the first, or says the whole
 * of what has grown since, begins a subject of its own, as nobody may miss it below a subject that says less.
 */
export const inThread = (
  { subject, isUrgent, isRetold }: First & Pick<MailBody, 'isRetold'>,
  earlier: Earlier | undefined,
): { subject: string; first: First } => {
  const first = earlier?.first;
  return first === undefined || isRetold || (isUrgent && !first.isUrgent)
    ? { subject, first: { subject, isUrgent } }
    : { subject: `Re: ${first.subject}`, first };
};

/** A protocol's name as one label of a domain name. */
const labelFor = (protocol: string): string =>
  protocol
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '') || 'protocol';

const SEVERAL = 'Several protocols';
const NAME_LIMIT = 120;

/** The list that mails of one protocol share. Mails about several protocols have their own. */
const listOf = (alerts: readonly Alert[]): MailBody['list'] => {
  const names = new Set(alerts.map(({ service, protocol }) => JSON.stringify([service, protocol])));
  const [{ protocol } = { protocol: '' }] = alerts;
  const name = names.size === 1 ? shorten(defang(cleanLine(protocol)) || UNKNOWN, NAME_LIMIT) : SEVERAL;
  return { label: labelFor(name), name };
};

const TRACEABLE = /^0x[0-9a-f]{64}$/;

/** People paste this command into a shell, so it takes only an id of ours or what has the shape of a hash. */
const footerOf = (alerts: readonly Alert[], { label }: Destination): string => {
  const [{ id, below = id, txHash = '' } = { id: '' }] = alerts;
  const of = alerts.length > 1 && TRACEABLE.test(txHash) ? txHash : below;
  const these = alerts.length > 1 ? 'these alerts' : 'this alert';
  return `Sent by Tocsin to ${label}.\nWhere ${these} went: tocsin trace ${of}`;
};

const digestFooter = ({ label }: Destination): string =>
  `Sent by Tocsin to ${label}.\nWhere one of these went: tocsin trace TRANSACTION`;

/** What a mail says beside a subject that it has from an earlier one, which may name another protocol. */
const whatOf = ({ prefix, word, where }: Content): string =>
  `${prefix === undefined ? '' : `${prefix} `}${word} · ${where}`;

/** The whole of an incident, below what is new in it: `Now 6 protocols (+ Copper Perps)`. */
function* retold(alerts: readonly Alert[], heard: number, wording: Wording): Sliced<Content> {
  const { isTitled: _, ...whole } = yield* describeIncident(alerts, wording);
  const { title, where, subject, said, headline } = yield* describeNews(alerts, heard, wording);
  return { ...whole, ...defangContent({ title, where, subject, said, headline, isOurs: false }) };
}

/** A template of the config words what was defanged before: its own words and links stay as they are. */
const mailWording = (context: ComposeContext): Wording => {
  const { presentation, ...wording } = wordingOf(context);
  const { templates } = presentation;
  const apply: typeof templates.apply = (content, alert) => templates.apply(defangContent(content), alert);
  return { ...wording, presentation: { ...presentation, templates: { apply } } };
};

/** One mail for each incident, or one digest if there are many. */
export const composeEmail = (parcel: Parcel, context: ComposeContext): Sliced<Message<MailBody>[]> => {
  const wording = mailWording(context);
  const commonOf = (tone: Tone, alerts: readonly Alert[], destination: Destination) => ({
    date: context.sentAt,
    // A replay is history, and nobody is woken by it again.
    isUrgent: tone === 'critical' && !alerts.every(({ replay }) => replay),
    threadId: threadIdOf(alerts, destination),
    list: listOf(alerts),
  });
  return messagesOf<MailBody>(parcel, {
    single: function* (alerts, destination) {
      const { heard } = context;
      const content = yield* heard === undefined ? describeIncident(alerts, wording) : retold(alerts, heard, wording);
      const subject = subjectOf(headlineOf(content), markOf(alerts));
      return {
        subject,
        ...singleParts(content, alerts, { subject, footer: footerOf(alerts, destination), format: context.format }),
        ...(content.isOurs ? {} : { what: whatOf(content) }),
        ...(heard === undefined ? {} : { isRetold: true }),
        ...commonOf(content.tone, alerts, destination),
      };
    },
    digest: function* (alerts, destination) {
      const content = yield* defangDigest(yield* describeDigest(alerts, wording, context.storm));
      const subject = subjectOf(digestHeadline(content), content.id);
      const parts = yield* digestParts(content, subject, digestFooter(destination), context.format);
      return { subject, ...parts, ...commonOf(content.tone, alerts, destination) };
    },
  });
};

const ACKNOWLEDGE_URL = 'https://tocsin.example.com/acknowledge/sample';

/** Who has acknowledged it is nowhere in a mail, which cannot be changed. */
export const previewEmail: ComposePreview = (parcel, context, { annotation }) =>
  atOnce(composeEmail(parcel, context)).map(({ body }) =>
    annotation === undefined || annotation.note !== undefined ? body : withAcknowledgeLink(body, ACKNOWLEDGE_URL),
  );
