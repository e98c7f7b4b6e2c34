/** Good news never comes before what it is about, although that has to be tried again. */
import { expect, test } from 'vitest';
import { createPagerdutyReceiver } from '../../src/sandbox/receivers/formats/pagerduty.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

const ROUTING_KEY = 'R0123456789abcdefghijklmnopqrstu';

test('an incident that could not be raised at first is raised, and then resolved', async ({
  onTestFinished: onFinished,
}) => {
  const pagerduty = createPagerdutyReceiver({ routingKey: ROUTING_KEY });
  onFinished(() => pagerduty.stop());
  const { url } = await pagerduty.start();
  const world = await startWorld({
    onFinished,
    names: ['Vault'],
    kinds: ['webhook'],
    config: {
      alerts: { secondLook: ['1s', '3s', '6s'] },
      protocols: { overrides: { Vault: { channels: [{ name: 'webhook', url }] } } },
      channels: { webhook: { receivers: { [url]: { format: 'pagerduty', routingKey: ROUTING_KEY } } } },
    },
  });
  const daemon = await world.start();
  await daemon.watching();

  const restore = pagerduty.script.always({ kind: 'answer', status: 503 });
  const { _id: id } = world.sandbox.service.insertInspection({ protocol: 'Vault', assessment: 'critical' });
  await until('it was tried', () => pagerduty.attempts().length > 0);
  world.sandbox.service.changeInspection(id, { assessment: 'ok' });
  await until('the follow-up is queued', () => daemon.log('follow-up').length === 1);
  restore();
  await until('both were taken', () => pagerduty.received().length === 2);
  expect(pagerduty.received().map(({ raw }) => (raw.body as { event_action?: string }).event_action)).toEqual([
    'trigger',
    'resolve',
  ]);
  expect(pagerduty.openKeys()).toEqual([]);
});
