/** `tocsin webhook sample`: a request of each type and format, signed where it is, to try a receiver with. */
import { type Alert, ANNOUNCEMENTS, CHANGES, type Change, type Destination, type FollowUp, TOCSIN } from '../alert.ts';
import { createPresentation } from '../channels/content/presentation.ts';
import { labelOf } from '../channels/registry.ts';
import { WEBHOOK_FORMATS, type WebhookFormat } from '../channels/webhook/formats/names.ts';
import { formatOf } from '../channels/webhook/formats/registry.ts';
import { signatures, signingKey } from '../channels/webhook/signature.ts';
import { atOnce } from '../chunks.ts';
import { ASSESSMENTS } from '../config/sections.ts';
import { announcementAlert } from '../features/announcements/announce.ts';
import { sampleAlert } from '../features/sample/sample.ts';
import { alertId, destinationId } from '../item.ts';
import { createSecret } from '../secret.ts';
import { iso } from '../time.ts';
import { type Action, answer } from './context.ts';
import { oneOf } from './options.ts';
import { shellQuoted as quoted } from './terminal.ts';
import { addressIn, type SecretOptions, secretsFor } from './webhook-secrets.ts';

interface SampleOptions extends SecretOptions {
  type: string;
  format: string;
  url: string;
}

const MESSAGE = 'A sample, made by tocsin webhook sample.';

const notification = ({ id: _id, txHash: _txHash, ...sample }: Alert): Alert => ({
  ...sample,
  id: alertId(sample.service, 'notifications', sample.itemId),
  source: 'notifications',
  type: 'notification.created',
  item: { message: MESSAGE, protocol: sample.protocol, createdAt: sample.at },
});

const CHANGED: Readonly<Record<Change, Omit<FollowUp, 'of'>>> = {
  downgraded: { was: 'critical', is: 'ok' },
  upgraded: { was: 'suspecious', is: 'critical' },
  vanished: { was: 'critical' },
};

/** What makes a sample of each type; of a batch, its alerts. */
const makers = (sample: Alert, now: number): Record<string, () => Alert[]> => ({
  'test.sample': () => [sample],
  ...Object.fromEntries(
    ASSESSMENTS.map((assessment) => [
      `inspection.${assessment}`,
      () => [{ ...sample, type: `inspection.${assessment}`, item: { ...sample.item, assessment } }],
    ]),
  ),
  ...Object.fromEntries(
    CHANGES.map((change) => [
      `inspection.${change}`,
      () => [{ ...sample, type: `inspection.${change}`, followUp: { of: sample.id, ...CHANGED[change] } }],
    ]),
  ),
  'notification.created': () => [notification(sample)],
  ...Object.fromEntries(
    ANNOUNCEMENTS.map((about) => [
      `${TOCSIN.toLowerCase()}.${about}`,
      () => [announcementAlert({ about, key: sample.itemId, message: MESSAGE }, now)],
    ]),
  ),
  batch: () => [sample, notification(sample)],
});

const alertsOf = (type: string, now: number): Alert[] => {
  const all = makers(sampleAlert('main', 'Sample protocol', `sample-${now}`, now), now);
  return all[oneOf('--type', type, Object.keys(all))]?.() ?? [];
};

interface Request {
  url: string;
  /** Default: POST. */
  method?: 'PUT' | 'PATCH';
  headers: Readonly<Record<string, string>>;
  body: string;
}

const curlOf = ({ url, method, headers, body }: Request): string =>
  [
    `curl ${method === undefined ? '' : `-X ${method} `}${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ].join(' \\\n  ');

/** Stands where the receiver's own key belongs: a sample is printed, and keys are not. */
const CREDENTIALS = { routingKey: createSecret('ROUTING_KEY'), apiKey: createSecret('API_KEY') };

const requestsOf = (
  { format, alerts, address }: { format: WebhookFormat; alerts: Alert[]; address: string },
  secrets: readonly string[],
  now: number,
): Request[] => {
  const module = formatOf(format);
  const destination: Destination = {
    id: destinationId('webhook', address),
    kind: 'webhook',
    address,
    label: labelOf('webhook', address),
  };
  const context = { format: 'rich' as const, presentation: createPresentation(), sentAt: iso(now) };
  const messages = atOnce(module.compose({ destination, alerts }, context, { batch: alerts.length }));
  const timestamp = String(Math.floor(now / 1000));
  return messages.flatMap(({ id, body: requests }) =>
    requests.map((request) => {
      const receiver = { address, credentials: CREDENTIALS };
      const { url = address, text: body = request.text, headers = {} } = module.complete?.(request, receiver) ?? {};
      const signature = signatures(secrets.map(signingKey), { id, timestamp, body });
      const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
      return {
        url,
        ...(request.method && { method: request.method }),
        headers: { ...headers, 'content-type': module.contentType, ...(secrets.length === 0 ? {} : signed) },
        body,
      };
    }),
  );
};

export const sample: Action<SampleOptions> = async (options, context) => {
  const now = Date.now();
  const address = addressIn('--url', options.url);
  const alerts = alertsOf(options.type, now);
  const format = oneOf('--format', options.format, WEBHOOK_FORMATS);
  const secrets = formatOf(format).isSigned ? await secretsFor(address, options, context) : [];
  const requests = requestsOf({ format, alerts, address }, secrets, now);
  return answer(context, options, requests.length === 1 ? requests[0] : requests, () =>
    requests.map((request) => `${curlOf(request)}\n`).join('\n'),
  );
};
