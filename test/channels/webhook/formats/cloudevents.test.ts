import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test } from 'vitest';
import { payloadSchema } from '../../../../src/channels/webhook/schema.ts';
import { deliveryId } from '../../../../src/item.ts';
import { createCloudeventsReceiver } from '../../../../src/sandbox/receivers/formats/cloudevents.ts';
import { inspectionAlert } from '../../../support/alerts.ts';
import { openVendor } from '../../../support/webhooks.ts';

const SECRET = `whsec_${Buffer.alloc(32, 'a').toString('base64')}`;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

test('an event has the standard data, and is signed like a standard webhook', async () => {
  const receiver = createCloudeventsReceiver();
  const { url } = await receiver.start();
  const { deliver, destination, close } = openVendor(`${url}/events`, { format: 'cloudevents' }, { secret: SECRET });
  closers.push(receiver.stop, close);
  const alert = inspectionAlert();
  await deliver([alert]);
  const [{ raw } = { raw: undefined }] = receiver.received();
  const event = JSON.parse(JSON.stringify(raw?.body));
  expect(event).toMatchObject({
    specversion: '1.0',
    id: deliveryId(alert.id, destination.id),
    source: '/tocsin/services/main',
    type: 'tocsin.inspection.critical',
    subject: 'Lending Pool',
    time: '2026-11-20T10:07:31.002Z',
    datacontenttype: 'application/json',
  });
  const payload = { type: 'inspection.critical', timestamp: event.time, data: event.data };
  expect(payloadSchema.safeParse(payload).error).toBeUndefined();
  const headers = Object.fromEntries(Object.entries(raw?.headers ?? {}).map(([name, value]) => [name, String(value)]));
  expect(new Webhook(SECRET).verify(JSON.stringify(event), headers)).toEqual(event);
});
