/** The main job: what is critical is sent on every channel of its protocol, once; what is not stays quiet. */
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { SANDBOX } from './config.ts';
import { PROTOCOLS, startWorld, type World } from './world.ts';

interface Payload {
  type: string;
  data: { service: string; protocol: string; inspection?: { _id: string }; notification?: { message: string } };
}

/** Every webhook that arrived, as a receiver reads it that trusts nothing but the signature. */
const verified = ({ sandbox, addresses }: World): { id: string; payload: Payload }[] => {
  const verifier = new Webhook(addresses.webhook.secret);
  return sandbox.receivers.webhook.received().map(({ raw: { id, bodyText, headers } }) => {
    const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    return { id, payload: verifier.verify(bodyText, given) as Payload };
  });
};

test.concurrent('criticals among the harmless reach all four kinds, each once', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  await world.start();
  for (const protocol of PROTOCOLS) {
    world.calm(protocol, 10);
    world.critical(protocol, 3);
    world.calm(protocol, 10);
  }
  await world.delivered();
  world.critical('Vault');
  await world.balanced();
  expect(new Set(world.sandbox.received().map(({ kind }) => kind)).size).toBe(4);
});

test.concurrent('stored notifications arrive with their whole message', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({ onFinished });
  const daemon = await world.start();
  const [vault, bridge, hostile] = PROTOCOLS;
  world.notification(vault, 'Monitoring was extended.\nBy two contracts.');
  world.notification(bridge, 'Monitoring was reduced.\nBy three contracts.');
  world.notification(hostile, 'The weekly report is ready.');
  world.critical('Bridge');
  await world.balanced();
  expect(await daemon.metric('tocsin_alerts_total', { source: 'notifications' })).toBe(PROTOCOLS.length);
});

test.concurrent('every webhook verifies, says what it is, and has an id of its own', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  await world.start();
  const [inspection] = world.critical('Vault');
  world.notification('Bridge', 'The weekly report is ready.');
  await world.balanced();
  const webhooks = verified(world);
  expect(new Set(webhooks.map(({ id }) => id)).size).toBe(webhooks.length);
  const payloads = webhooks.map(({ payload }) => payload);
  expect(payloads.find(({ data }) => data.inspection?._id === inspection?._id)).toMatchObject({
    type: 'inspection.critical',
    data: { service: 'sandbox', protocol: 'Vault', inspection: { txHash: inspection?.txHash } },
  });
  expect(payloads.find(({ type }) => type === 'notification.created')).toMatchObject({
    data: { protocol: 'Bridge', notification: { message: 'The weekly report is ready.' } },
  });
});

test.concurrent('what comes late, and what turns critical after it was written, is sent once', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  await world.start();
  world.critical('Vault');
  await world.delivered();
  const { service } = world.sandbox;
  const createdAt = service.now() - 10 * 60_000;
  service.insertInspection({ protocol: 'Vault', assessment: 'critical', createdAt });
  const inspection = service.insertInspection({ protocol: 'Vault', assessment: 'ok', createdAt });
  await world.balanced();
  service.changeInspection(inspection._id, { assessment: 'critical' });
  await world.balanced();
  expect(world.reconciler.arrivalsOf(inspection.txHash)).toHaveLength(4);
});

test.concurrent('one daemon serves two keys of the service', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({
    onFinished,
    names: ['Vault'],
    moreKeys: [{ apiKey: 'second-key', protocols: [{ name: 'Harbour' }] }],
    config: {
      services: [
        { ...SANDBOX, name: 'first' },
        { ...SANDBOX, name: 'second', apiKey: 'second-key' },
      ],
    },
  });
  await world.start();
  world.critical('Vault', 2);
  world.critical('Harbour', 2);
  await world.balanced();
  expect(new Set(verified(world).map(({ payload: { data } }) => `${data.service} ${data.protocol}`))).toEqual(
    new Set(['first Vault', 'second Harbour']),
  );
});
