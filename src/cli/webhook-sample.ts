/** `tocsin webhook sample`: a signed request of each type, to try a receiver with. */

import { type Alert, ANNOUNCEMENTS, CHANGES, TOCSIN } from '../alert.ts';
import { WELL_KNOWN_CHAINS } from '../channels/chains.ts';
import { labelOf } from '../channels/registry.ts';
import { composeWebhook } from '../channels/webhook/message.ts';
import { signatures, signingKey } from '../channels/webhook/signature.ts';
import { ASSESSMENTS } from '../config/sections.ts';
import { UsageError } from '../errors.ts';
import { announcementAlert } from '../features/announcements/alert.ts';
import { sampleAlert } from '../features/sample/alert.ts';
import { alertId, destinationId } from '../identity.ts';
import { atOnce } from '../slices.ts';
import { iso } from '../time.ts';
import { type CommandContext, EXIT, type ExitCode, writeJson } from './context.ts';
import { addressIn, type SecretOptions, secretsFor } from './webhook-secrets.ts';

interface SampleOptions extends SecretOptions {
  type: string;
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
      () => {
        const followUp = { of: sample.id, was: 'critical', ...(change === 'vanished' ? {} : { is: 'ok' }) };
        return [{ ...sample, type: `inspection.${change}`, followUp }];
      },
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
  const make = Object.hasOwn(all, type) ? all[type] : undefined;
  if (make === undefined) throw new UsageError(`--type must be one of ${Object.keys(all).join(', ')} (got '${type}')`);
  return make();
};

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const curlOf = (url: string, headers: Readonly<Record<string, string>>, body: string): string =>
  [
    `curl ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ].join(' \\\n  ');

export const sample = async (options: SampleOptions, context: CommandContext): Promise<ExitCode> => {
  const now = Date.now();
  const address = addressIn('--url', options.url);
  const alerts = alertsOf(options.type, now);
  const secrets = await secretsFor(address, options, context);
  const destination = {
    id: destinationId('webhook', address),
    kind: 'webhook' as const,
    address,
    label: labelOf('webhook', address),
  };
  const [message] = atOnce(
    composeWebhook(
      { destination, alerts },
      { format: 'rich', chains: WELL_KNOWN_CHAINS, sentAt: iso(now) },
      { batch: alerts.length },
    ),
  );
  const { id, body } = message ?? { id: '', body: '' };
  const timestamp = String(Math.floor(now / 1000));
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures(secrets.map(signingKey), { id, timestamp, body }),
  };
  if (options.json === true) writeJson(context, { url: address, headers, body });
  else context.write(`${curlOf(address, headers, body)}\n`);
  return EXIT.done;
};
