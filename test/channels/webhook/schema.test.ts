/** config/webhook.schema.json is what receivers are written by: it has to be what is really sent. */

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Alert, ANNOUNCEMENTS, CHANGES } from '../../../src/alert.ts';
import { FORMATS, type Format } from '../../../src/channels/channel.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { payloadJsonSchema } from '../../../src/channels/webhook/schema.ts';
import { ASSESSMENTS } from '../../../src/config/sections.ts';
import { announcementAlert } from '../../../src/features/announcements/announce.ts';
import { sampleAlert } from '../../../src/features/sample/sample.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../../support/alerts.ts';
import { composeAs, textOf } from '../../support/webhooks.ts';

const SHIPPED: z.core.JSONSchema.JSONSchema = JSON.parse(
  readFileSync(new URL('../../../config/webhook.schema.json', import.meta.url), 'utf8'),
);
const schema = z.fromJSONSchema(SHIPPED);

const followUps = CHANGES.map((change) =>
  inspectionAlert({
    type: `inspection.${change}`,
    followUp: { of: 'first', was: 'critical', ...(change === 'vanished' ? {} : { is: 'ok' }) },
  }),
);

const ALERTS: Alert[] = [
  ...ASSESSMENTS.map((assessment) => inspectionAlert({ item: { assessment } })),
  inspectionAlert({ context: {} }),
  inspectionAlert({
    context: {
      trigger: { groups: 2, matched: { number: 1, detectors: ['flashLoan'] } },
      adminOf: ['Vault'],
      privilegedOn: [],
      first: { since: '2026-11-01T00:00:00.000Z', origin: true },
    },
  }),
  inspectionAlert({ item: { chainId: 'nowhere', detections: null } }),
  inspectionAlert({ replay: true, notice: 'Slack #ops did not take it within 60s.' }),
  ...followUps,
  notificationAlert('Paused'),
  sampleAlert('main', 'Lending Pool', 'sample', Date.now()),
  ...ANNOUNCEMENTS.map((about) => announcementAlert({ about, key: '1', message: 'Something happened.' }, Date.now())),
];

const payloads = (alerts: readonly Alert[], format: Format, batch: number): unknown[] =>
  composeAs(
    'standard',
    { destination: destinationOf('webhook', 'https://hooks.example/in'), alerts: [...alerts] },
    { format, presentation: createPresentation(), sentAt: '2026-11-20T10:08:00.000Z' },
    { batch },
  ).map((message) => JSON.parse(textOf(message)));

test('the shipped file is what `tocsin schema --webhook` prints', () => {
  expect(SHIPPED).toEqual(payloadJsonSchema());
});

describe('the shipped schema', () => {
  test.each(ALERTS)('takes $type as it is sent', (alert) => {
    for (const format of FORMATS) {
      const [payload] = payloads([alert], format, 1);
      expect(schema.safeParse(payload).error, format).toBeUndefined();
    }
  });

  test('takes batches of them all', () => {
    const batches = payloads(ALERTS, 'rich', 5);
    expect(batches.length).toBeGreaterThan(1);
    for (const payload of batches) expect(schema.safeParse(payload).error).toBeUndefined();
  });

  const [good] = payloads([inspectionAlert()], 'rich', 1) as { type: string; timestamp: string; data: object }[];
  test.each([
    ['no object', 'text'],
    ['no type', { ...good, type: undefined }],
    ['an unknown type', { ...good, type: 'inspection.odd' }],
    ['no date', { ...good, timestamp: 'yesterday' }],
    ['an inspection of another name', { ...good, type: 'notification.created' }],
    ['context in another shape', { ...good, data: { ...good?.data, context: { adminOf: 'Vault' } } }],
    ['no service', { ...good, data: { ...good?.data, service: undefined } }],
    ['a follow-up without what it follows', { ...good, type: 'inspection.vanished' }],
    ['a notification without itself', { ...good, type: 'notification.created', data: {} }],
    ['a batch in a batch', { type: 'batch', timestamp: good?.timestamp, data: { items: [good, { type: 'batch' }] } }],
  ])('refuses %s', (_what, payload) => {
    expect(schema.safeParse(JSON.parse(JSON.stringify(payload))).success).toBe(false);
  });
});
