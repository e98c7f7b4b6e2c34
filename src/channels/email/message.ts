/** Composes the mails of a parcel: subject, thread, list and footer around the text. */
import type { Alert, Destination, Parcel } from '../../alert.ts';
import { contentId } from '../../identity.ts';
import type { Sliced } from '../../slices.ts';
import { cleanLine, shorten } from '../../text.ts';
import type { ComposeContext, Message } from '../channel.ts';
import { describeDigest } from '../digest.ts';
import { describeIncident } from '../incident-content.ts';
import { messagesOf } from '../incidents.ts';
import type { MailBody } from './body.ts';
import { digestParts } from './digest.ts';
import { singleParts } from './single.ts';

/** Longer subjects are cut by most mail programs anyway. */
export const SUBJECT_LIMIT = 120;

/** A protocol's name as one label of a domain name. */
const labelFor = (protocol: string): string =>
  protocol
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '') || 'protocol';

const SEVERAL = 'Several protocols';

/** The thread and list that mails of one protocol share. Mails about several protocols have their own. */
const seriesOf = (alerts: readonly Alert[], protocol: string, destination: Destination) => {
  const names = new Set(alerts.map((alert) => JSON.stringify([alert.service, alert.protocol])));
  const [first] = alerts;
  const one = names.size === 1 && first ? [first.service, first.protocol] : undefined;
  const name = one ? shorten(cleanLine(protocol), SUBJECT_LIMIT) : SEVERAL;
  return {
    threadId: `thread_${contentId(...(one ? ['thread', ...one] : ['threads']), destination.id)}`,
    list: { label: labelFor(name), name },
  };
};

const subjectOf = (headline: string): string => shorten(cleanLine(headline), SUBJECT_LIMIT);

const TRACEABLE = /^0x[0-9a-f]{64}$/;

/** People paste this command into a shell, so it takes only an id of ours or what has the shape of a hash. */
const footerOf = (alerts: readonly Alert[], { label }: Destination): string => {
  const [{ id, txHash = '' } = { id: '' }] = alerts;
  const of = alerts.length > 1 && TRACEABLE.test(txHash) ? txHash : id;
  const these = alerts.length > 1 ? 'these alerts' : 'this alert';
  return `Sent by Tocsin to ${label}.\nWhere ${these} went: tocsin trace ${of}`;
};

const digestFooter = ({ label }: Destination): string =>
  `Sent by Tocsin to ${label}.\nWhere one of these went: tocsin trace TRANSACTION`;

/** One mail for each incident, or one digest if there are many. */
export const composeEmail = (parcel: Parcel, { chains, sentAt, format }: ComposeContext): Sliced<Message<MailBody>[]> =>
  messagesOf<MailBody>(parcel, {
    single: function* (alerts, destination) {
      const content = yield* describeIncident(alerts, chains, sentAt);
      const subject = subjectOf(content.headline);
      return {
        subject,
        ...singleParts(content, subject, footerOf(alerts, destination), format),
        date: sentAt,
        ...seriesOf(alerts, content.protocol, destination),
      };
    },
    digest: function* (alerts, destination) {
      const content = yield* describeDigest(alerts, chains, sentAt);
      const subject = subjectOf(content.headline);
      return {
        subject,
        ...(yield* digestParts(content, subject, digestFooter(destination), format)),
        date: sentAt,
        ...seriesOf(alerts, content.items[0]?.protocol ?? '', destination),
      };
    },
  });
