/** Webhooks for tests: what is composed as text, the channel with one receiver, and one alert of every sort. */
import {
  type Alert,
  ANNOUNCEMENTS,
  type CHANGES,
  type Destination,
  type Parcel,
  type SentInspection,
  type SentInspections,
} from '../../src/alert.ts';
import type { Channel, ComposeContext, Message } from '../../src/channels/channel.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { createGuardedPost } from '../../src/channels/http.ts';
import { webhookConfig } from '../../src/channels/webhook/config.ts';
import type { WebhookBody } from '../../src/channels/webhook/formats/format.ts';
import type { WebhookFormat } from '../../src/channels/webhook/formats/names.ts';
import { formatOf } from '../../src/channels/webhook/formats/registry.ts';
import { createWebhookChannel } from '../../src/channels/webhook/transport.ts';
import { atOnce } from '../../src/chunks.ts';
import { announcementAlert } from '../../src/features/announcements/announce.ts';
import { sampleAlert } from '../../src/features/sample/sample.ts';
import { iso } from '../../src/time.ts';
import { destinationOf, inspectionAlert, notificationAlert } from './alerts.ts';
import { HOSTILE_TEXTS } from './hostile.ts';

export const textOf = ({ body: requests }: Message<WebhookBody>): string => {
  const [request, ...more] = requests;
  if (request === undefined || more.length > 0) throw new Error(`${requests.length} requests`);
  return request.text;
};

export const composeAs = (
  format: WebhookFormat,
  parcel: Parcel,
  context: ComposeContext,
  options = { batch: 1 },
): Message<WebhookBody>[] => atOnce(formatOf(format).compose(parcel, context, options));

export interface VendorBench {
  channel: Channel;
  destination: Destination;
  /** Composes and sends, each message with all of its parts; gives the messages. */
  deliver(alerts: readonly Alert[], context?: Partial<ComposeContext>): Promise<Message[]>;
  close(): Promise<void>;
}

/** The real channel, with one receiver at `url` that the config sets up. */
export const openVendor = (url: string, receiver: object, common: object = {}): VendorBench => {
  const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'] });
  const config = webhookConfig.parse({ ...common, receivers: { [url]: receiver } });
  const channel = createWebhookChannel(config, { post: guard.post, now: Date.now });
  const destination = destinationOf('webhook', new URL(url).href);
  const sendAll = async (message: Message): Promise<void> => {
    const { progress } = await channel.send(message, AbortSignal.timeout(20_000));
    if (progress !== undefined) await sendAll({ ...message, progress });
  };
  return {
    channel,
    destination,
    deliver: async (alerts, context = {}) => {
      const whole = {
        format: 'rich',
        presentation: createPresentation(),
        sentAt: iso(Date.now()),
        ...context,
      } as const;
      const messages = atOnce(channel.compose({ destination, alerts: [...alerts] }, whole));
      for (const message of messages) await sendAll(message);
      return messages;
    },
    close: guard.close,
  };
};

/** Of a 256 kB item: a long text, many detectors and many contracts. */
export const hugeAlert = (): Alert =>
  inspectionAlert({
    item: {
      _id: 'huge',
      detections: Object.fromEntries(
        Array.from({ length: 200 }, (_, n) => [`detector${n}`, { status: 'detected', message: `${n} `.repeat(600) }]),
      ),
      assets: Array.from({ length: 300 }, (_, n) => ({
        address: `0x${n.toString(16).padStart(40, 'e')}`,
        descriptor: `Contract ${n} ${'x'.repeat(100)}`,
      })),
      invokedMethodName: 'm'.repeat(3000),
    },
  });

/** What a destination has of a transaction: each inspection as it was sent there, with what it is now. */
export const sentInspectionsOf = (
  ...all: (readonly [alert: Alert, assessment?: string | undefined, isSent?: boolean])[]
): SentInspections => {
  const sentInspections = all.map(
    ([{ id, protocol, txHash = '' }, assessment, isSent = true]): [string, SentInspection] => [
      txHash,
      { alert: id, protocol, ...(assessment === undefined ? {} : { assessment }), isSent },
    ],
  );
  const byHash = Map.groupBy(sentInspections, ([txHash]) => txHash);
  return new Map([...byHash].map(([txHash, own]) => [txHash, own.map(([, one]) => one)]));
};

/** One of each sort that a receiver may get, and the hostile ones. */
export const everySort = (): [what: string, alert: Alert][] => {
  const followUp = (change: (typeof CHANGES)[number], was: string, is?: string): [string, Alert] => [
    `a follow-up: ${change}`,
    inspectionAlert({
      id: `follow-up-${change}`,
      type: `inspection.${change}`,
      followUp: { of: inspectionAlert().id, was, ...(is === undefined ? {} : { is }) },
    }),
  ];
  return [
    ['a critical', inspectionAlert()],
    ['a suspicious one', inspectionAlert({ item: { _id: 'suspicious', assessment: 'suspecious' } })],
    ['an assessment nobody knows', inspectionAlert({ item: { _id: 'odd', assessment: 'x'.repeat(5000) } })],
    ['a replay with a notice', inspectionAlert({ item: { _id: 'past' }, replay: true, notice: 'Slack was broken.' })],
    ['an empty item', { ...inspectionAlert(), id: 'empty', item: {} }],
    followUp('downgraded', 'critical', 'ok'),
    followUp('upgraded', 'suspecious', 'critical'),
    followUp('vanished', 'critical'),
    ['a stored notification', notificationAlert('Guardian paused withdrawals.\n\nReason: the price moved.')],
    ['a notification of nothing', notificationAlert('')],
    ['a sample', sampleAlert('main', 'Lending Pool', 'sample', Date.now())],
    ['a huge one', hugeAlert()],
    ...ANNOUNCEMENTS.map((about): [string, Alert] => [
      about,
      announcementAlert({ about, key: '1', message: 'Something happened.\nDo this.' }, Date.now()),
    ]),
    ...HOSTILE_TEXTS.map((text, n): [string, Alert] => {
      const detections = { [text]: { status: 'detected', message: text } };
      const assets = [{ address: text, descriptor: text }];
      const item = {
        _id: `hostile${n}`,
        assessment: text,
        protocol: text,
        invokedMethodName: text,
        chainId: text,
        detections,
        assets,
      };
      return [`hostile ${n}`, inspectionAlert({ service: text, protocol: text, item })];
    }),
    ...HOSTILE_TEXTS.map((text, n): [string, Alert] => [
      `hostile notification ${n}`,
      notificationAlert(text, { itemId: `n${n}`, id: `n${n}`, protocol: text }),
    ]),
  ];
};
