/** Receivers of other products get what the service finds, through the real queue, and hear when it was nothing. */
import { expect, test } from 'vitest';
import { createAlertmanagerReceiver } from '../../src/sandbox/receivers/formats/alertmanager.ts';
import { createDiscordReceiver } from '../../src/sandbox/receivers/formats/discord.ts';
import { createOpsgenieReceiver } from '../../src/sandbox/receivers/formats/opsgenie.ts';
import { createPagerdutyReceiver } from '../../src/sandbox/receivers/formats/pagerduty.ts';
import { createTeamsReceiver } from '../../src/sandbox/receivers/formats/teams.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

const ROUTING_KEY = 'R0123456789abcdefghijklmnopqrstu';

test('a finding that turns worse, less bad and then to nothing, at every product', async ({
  onTestFinished: onFinished,
}) => {
  const pagerduty = createPagerdutyReceiver({ routingKey: ROUTING_KEY });
  const opsgenie = createOpsgenieReceiver({ apiKey: 'opsgenie-key' });
  const alertmanager = createAlertmanagerReceiver();
  const discord = createDiscordReceiver();
  const teams = createTeamsReceiver();
  const all = [pagerduty, opsgenie, alertmanager, discord, teams];
  onFinished(async () => {
    await Promise.all(all.map((receiver) => receiver.stop()));
  });
  const urls = await Promise.all(all.map(async (receiver) => (await receiver.start()).url));
  const [forPagerduty = '', forOpsgenie = '', forAlertmanager = '', forDiscord = '', forTeams = ''] = urls;
  const world = await startWorld({
    onFinished,
    names: ['Vault'],
    kinds: ['webhook'],
    config: {
      alerts: { assessments: ['critical', 'suspecious'], secondLook: ['1s', '3s', '6s', '10s', '15s', '20s', '30s'] },
      links: [{ label: 'Runbook', url: 'https://wiki.example.com/{protocol}', protocols: ['Vault'] }],
      protocols: { overrides: { Vault: { channels: urls.map((url) => ({ name: 'webhook', url })) } } },
      channels: {
        webhook: {
          receivers: {
            [forPagerduty]: { format: 'pagerduty', routingKey: ROUTING_KEY },
            [forOpsgenie]: { format: 'opsgenie', apiKey: 'opsgenie-key' },
            [forAlertmanager]: { format: 'alertmanager' },
            [forDiscord]: { format: 'discord' },
            [forTeams]: { format: 'teams' },
          },
        },
      },
    },
  });
  const daemon = await world.start();
  await daemon.watching();
  const severities = () => alertmanager.firingAt(Date.now()).map(({ severity }) => severity);

  const { service } = world.sandbox;
  const { _id: id } = service.insertInspection({ protocol: 'Vault', assessment: 'suspecious' });
  await until('everybody has it', () => all.every((receiver) => receiver.received().length === 1));
  const severityNow = () =>
    pagerduty
      .incidents()
      .map(({ state, severity }) => `${state} ${severity}`)
      .join();
  const priorityNow = () =>
    opsgenie
      .alerts()
      .map(({ state, priority }) => `${state} ${priority}`)
      .join();
  expect([severityNow(), priorityNow()]).toEqual(['triggered warning', 'open P3']);
  expect(severities()).toEqual(['warning']);

  service.changeInspection(id, { assessment: 'critical' });
  await until('it is critical, and no more a warning', () => severityNow() === 'triggered critical');
  await until('Opsgenie has the one', () => priorityNow() === 'open P1');
  await until('Alertmanager has the one', () => severities().join() === 'critical');
  await until('people read it', () => [discord, teams].every((receiver) => receiver.received().length === 2));

  await until('and the title of the first message in Discord', () =>
    discord.edits().some(({ text }) => text.includes('CRITICAL (was SUSPICIOUS)')),
  );

  service.changeInspection(id, { assessment: 'suspecious' });
  await until('it is a warning again, and open', () => severityNow() === 'triggered warning');
  await until('Opsgenie has the one, too', () => priorityNow() === 'open P3');
  await until('Alertmanager has it, too', () => severities().join() === 'warning');
  await until('people read of it', () => [discord, teams].every((receiver) => receiver.received().length === 3));

  service.changeInspection(id, { assessment: 'ok' });
  await until(
    'nothing is open',
    () => pagerduty.openKeys().length + opsgenie.openAliases().size + severities().length === 0,
  );
  await until('people read it, too', () => [discord, teams].every((receiver) => receiver.received().length === 4));
  service.insertNotification({ protocol: 'Vault', message: 'High: the guardian paused withdrawals' });
  await until('a stored notification is everywhere', () =>
    [pagerduty.openKeys().length, opsgenie.openAliases().size, severities().length].every((n) => n === 1),
  );
  await until('with its runbook', () =>
    [discord, teams].every((receiver) =>
      JSON.stringify(receiver.received().at(-1)?.raw.body).includes('https://wiki.example.com/Vault'),
    ),
  );
  expect(JSON.stringify(opsgenie.received().at(-1)?.raw.body)).toContain('https://wiki.example.com/Vault');
  expect(all.flatMap((receiver) => receiver.attempts()).filter(({ outcome }) => outcome !== 'accepted')).toEqual([]);
});

test('what six protocols find in one transaction is one message at Discord and at Teams; Discord changes it later', async ({
  onTestFinished: onFinished,
}) => {
  const [discord, teams] = [createDiscordReceiver(), createTeamsReceiver()];
  const all = [discord, teams];
  onFinished(async () => {
    await Promise.all(all.map((receiver) => receiver.stop()));
  });
  const urls = await Promise.all(all.map(async (receiver) => (await receiver.start()).url));
  const [forDiscord = '', forTeams = ''] = urls;
  const names = ['Vault', 'Bridge', 'Market', 'Oracle', 'Bank', 'Swap'];
  const channels = urls.map((url) => ({ name: 'webhook', url }));
  const world = await startWorld({
    ...{ onFinished, names: [...names, 'Late'], kinds: ['webhook'] },
    config: {
      protocols: { overrides: Object.fromEntries([...names, 'Late'].map((name) => [name, { channels }])) },
      channels: {
        webhook: {
          groupWait: '2s',
          receivers: { [forDiscord]: { format: 'discord' }, [forTeams]: { format: 'teams' } },
        },
      },
    },
  });
  const daemon = await world.start();
  await daemon.watching();
  const txHash = `0x${'5033ab'.repeat(10)}5ccb`;
  const insert = (protocol: string) =>
    world.sandbox.service.insertInspection({ protocol, assessment: 'critical', chainId: 1, txHash });
  for (const name of names) insert(name);
  await until('both have it', () => all.every((receiver) => receiver.received().length > 0));
  insert('Late');
  await until('what comes later is there', () => all.every((receiver) => receiver.received().length === 2));
  for (const receiver of all) for (const name of names) expect(receiver.received()[0]?.text).toContain(name);
  expect(teams.received()[1]?.text).toContain('Late');
  expect(discord.edits().map(({ text }) => text)).toEqual([expect.stringContaining('7 protocols')]);
  expect(discord.received()[1]?.text).toMatch(/Now 7 protocols \(\+ Late\)/);
  expect(all.flatMap((receiver) => receiver.attempts()).filter(({ outcome }) => outcome !== 'accepted')).toEqual([]);
});
