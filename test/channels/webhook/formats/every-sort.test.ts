/** Every sort of alert passes the strict receiver of every format, whole and after refusals. */
import { afterEach, describe, expect, test } from 'vitest';
import { FORMATS } from '../../../../src/channels/channel.ts';
import type { WebhookFormat } from '../../../../src/channels/webhook/formats/names.ts';
import { createAlertmanagerReceiver } from '../../../../src/sandbox/receivers/formats/alertmanager.ts';
import { createCloudeventsReceiver } from '../../../../src/sandbox/receivers/formats/cloudevents.ts';
import { createDiscordReceiver } from '../../../../src/sandbox/receivers/formats/discord.ts';
import { createOpsgenieReceiver } from '../../../../src/sandbox/receivers/formats/opsgenie.ts';
import { createPagerdutyReceiver } from '../../../../src/sandbox/receivers/formats/pagerduty.ts';
import { createTeamsReceiver } from '../../../../src/sandbox/receivers/formats/teams.ts';
import type { VendorReceiver } from '../../../../src/sandbox/receivers/formats/vendor.ts';
import { storm } from '../../../support/parcels.ts';
import { everySort, openVendor } from '../../../support/webhooks.ts';

const ROUTING_KEY = 'R0123456789abcdefghijklmnopqrstu';

const VENDORS: [WebhookFormat, () => VendorReceiver, object][] = [
  ['cloudevents', createCloudeventsReceiver, {}],
  ['pagerduty', () => createPagerdutyReceiver({ routingKey: ROUTING_KEY }), { routingKey: ROUTING_KEY }],
  ['opsgenie', () => createOpsgenieReceiver({ apiKey: 'opsgenie-key' }), { apiKey: 'opsgenie-key' }],
  ['alertmanager', createAlertmanagerReceiver, {}],
];

const FOR_PEOPLE: typeof VENDORS = [
  ['discord', createDiscordReceiver, {}],
  ['teams', createTeamsReceiver, {}],
];

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

describe.each([...VENDORS, ...FOR_PEOPLE])('%s', (format, create, settings) => {
  const open = async () => {
    const receiver = create();
    const { url } = await receiver.start();
    const bench = openVendor(url, { format, ...settings });
    closers.push(receiver.stop, bench.close);
    return { receiver, ...bench };
  };

  test('takes every sort of alert as it is sent', async () => {
    const { receiver, deliver } = await open();
    for (const each of FORMATS) {
      for (const [what, alert] of everySort()) {
        const sent = await deliver([alert], { format: each }).catch((error: unknown) => error);
        expect(sent, `${each}: ${what}: ${receiver.problems().join('; ')}`).toBeInstanceOf(Array);
      }
    }
    expect(receiver.attempts().filter(({ outcome }) => outcome !== 'accepted')).toEqual([]);
  });

  test.skipIf(FOR_PEOPLE.some(([name]) => name === format))('a storm is an event for each alert', async () => {
    const { receiver, deliver } = await open();
    const messages = await deliver(storm(20));
    expect(messages.map(({ alerts, isDigest }) => [alerts.length, isDigest])).toEqual(Array(20).fill([1, false]));
    expect(receiver.received()).toHaveLength(20);
  });
});
