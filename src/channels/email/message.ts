/** Composes the mails of a parcel: subject, thread, list and footer around the text. */
import type { Alert, Destination, Parcel } from '../../alert.ts';
import type { Sliced } from '../../slices.ts';
import { cleanLine, shorten } from '../../text.ts';
import type { ComposeContext, Message } from '../channel.ts';
import type { Content } from '../content/content.ts';
import { UNKNOWN } from '../content/field.ts';
import { describeIncident } from '../content/incident.ts';
import { wordingOf } from '../content/reading.ts';
import type { Tone } from '../content/severity.ts';
import { describeDigest } from '../digest.ts';
import { messagesOf } from '../incidents.ts';
import type { MailBody } from './body.ts';
import { digestParts } from './digest.ts';
import { singleParts } from './single.ts';
import { digestHeadline, headlineOf, markOf, subjectOf } from './subject.ts';
import { threadIdOf } from './thread.ts';

/** A protocol's name as one label of a domain name. */
const labelFor = (protocol: string): string =>
  protocol
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '') || 'protocol';

const SEVERAL = 'Several protocols';
const NAME_LIMIT = 120;

/** The thread of a mail, and the list that mails of one protocol share. Mails about several protocols have their own. */
const seriesOf = (alerts: readonly Alert[], destination: Destination) => {
  const names = new Set(alerts.map(({ service, protocol }) => JSON.stringify([service, protocol])));
  const [{ protocol } = { protocol: '' }] = alerts;
  const name = names.size === 1 ? shorten(cleanLine(protocol) || UNKNOWN, NAME_LIMIT) : SEVERAL;
  return { threadId: threadIdOf(alerts, destination), list: { label: labelFor(name), name } };
};

/** A replay is history, and nobody is woken by it again. */
const isUrgent = (tone: Tone, alerts: readonly Alert[]): boolean =>
  tone === 'critical' && !alerts.every(({ replay }) => replay);

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

/** One mail for each incident, or one digest if there are many. */
export const composeEmail = (parcel: Parcel, context: ComposeContext): Sliced<Message<MailBody>[]> =>
  messagesOf<MailBody>(parcel, {
    single: function* (alerts, destination) {
      const content = yield* describeIncident(alerts, wordingOf(context));
      const subject = subjectOf(headlineOf(content), markOf(alerts));
      return {
        subject,
        ...singleParts(content, subject, footerOf(alerts, destination), context.format),
        ...(content.isOurs ? {} : { what: whatOf(content) }),
        date: context.sentAt,
        isUrgent: isUrgent(content.tone, alerts),
        ...seriesOf(alerts, destination),
      };
    },
    digest: function* (alerts, destination) {
      const content = yield* describeDigest(alerts, wordingOf(context), context.storm);
      const subject = subjectOf(digestHeadline(content), content.id);
      return {
        subject,
        ...(yield* digestParts(content, subject, digestFooter(destination), context.format)),
        date: context.sentAt,
        isUrgent: isUrgent(content.tone, alerts),
        ...seriesOf(alerts, destination),
      };
    },
  });
