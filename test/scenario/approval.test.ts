/** Approval: alerts for a new destination are held, the fallback has them meanwhile, an approval delivers them. */
import { expect, test } from 'vitest';
import { openConsole } from '../cli/console.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

const ONCALL = 'oncall@example.com';
const ADDED = 'C0NEWONE01';

interface Known {
  id: string;
  kind: string;
  label: string;
  state: string;
  waiting: number;
}

const mails = ({ sandbox }: World): string[] =>
  sandbox.receivers.smtp.received().flatMap(({ destination, text }) => (destination === ONCALL ? [text] : []));

const slackAt = ({ sandbox }: World, channel: string) =>
  sandbox.receivers.slack.received().filter(({ destination }) => destination === channel);

test('a new destination is held, announced once, and gets everything when it is approved', async () => {
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['slack', 'email', 'webhook'],
    config: {
      destinations: { gate: true, allow: ['slack:C0SANDBOX*', 'email:*'] },
      fallback: { after: '1h', channels: [{ name: 'email', contacts: [ONCALL] }] },
      audit: { every: '200ms', lostAfter: '100ms' },
      poll: { startFrom: 'now' },
    },
  });
  const console = await openConsole(world);
  const daemons = [await world.start(), await world.start()];
  for (const daemon of daemons) await daemon.watching();
  const { service } = world.sandbox;
  for (const { name, apiKey, channels } of service.protocols()) {
    const others = channels.filter((channel) => channel.name !== 'webhook');
    service.replaceChannels({ protocol: name, apiKey }, [...others, { name: 'slack', contacts: [ADDED] }]);
  }
  const known = async () => (await console.json<Known[]>('destinations', 'list')).find(({ label }) => label === ADDED);
  await until('the new channel is listed', async () => (await known())?.state === 'new');

  const held = world.critical('Vault', 3);
  await until('they are held', async () => (await known())?.waiting === 3);
  for (const { txHash } of held) {
    await until('the others have it', () => world.reconciler.arrivalsOf(txHash).includes('slack C0SANDBOX01'));
    await until('the fallback has it', () => mails(world).some((text) => text.includes(txHash)));
  }
  const { id = '' } = (await known()) ?? {};
  await until('it is announced', () => mails(world).some((text) => /is\s+new\s+for\s+alerts\s+of/.test(text)));
  const notice = `Fallback: Slack channel ${ADDED} does not get this: it is new and waits for approval. If it is yours: tocsin destinations approve ${id}`;
  expect(mails(world).join('\n').replace(/\s+/g, ' ')).toContain(notice);
  const status = await daemons[0]?.status();
  expect(status?.held).toMatchObject([{ id, kind: 'slack', label: ADDED, protocols: ['Vault'], waiting: 3 }]);
  expect(status?.problems).toContain(
    `slack ${ADDED} (for “Vault”) is new and waits for approval with 3 alerts: tocsin destinations approve ${id}`,
  );
  expect(await daemons[0]?.metric('tocsin_held_alerts')).toBe(3);

  // Audits come and go, and take it neither for lost nor for missing.
  const audits = async (): Promise<number> => {
    const counted = await Promise.all(daemons.map((daemon) => daemon.metric('tocsin_audits_total')));
    return counted.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  };
  const begun = await audits();
  await until('it was audited', async () => (await audits()) > begun + 3);
  for (const daemon of daemons) expect(await daemon.metric('tocsin_audit_differences_total')).toBe(0);
  expect(slackAt(world, ADDED)).toEqual([]);
  const waiting = await console.json<{ protocols: { counts: { waiting: number } }[] }>('audit');
  expect(waiting.protocols.map(({ counts }) => counts.waiting)).toEqual([3]);

  expect(await console.run('destinations', 'approve', ADDED)).toMatchObject({
    code: 0,
    out: `slack ${ADDED}: approved, and 3 alerts that were held for it are queued\n`,
  });
  await world.delivered();
  const [after] = world.critical('Vault');
  await world.delivered();
  expect(world.reconciler.arrivalsOf(after?.txHash ?? '')).toContain(`slack ${ADDED}`);
  expect(world.reconciler.balance().doubled).toEqual([]);
  expect(await known()).toMatchObject({ state: 'approved', waiting: 0 });
  expect(mails(world).join()).not.toContain(after?.txHash);
  expect(mails(world).filter((text) => /is\s+new\s+for\s+alerts\s+of/.test(text))).toHaveLength(1);
  expect(await daemons[0]?.status()).toMatchObject({ held: [] });
});

test('an approval that another daemon knows before it is restarted, and what is given up, is accounted for', async () => {
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['slack', 'webhook'],
    config: { destinations: { gate: true } },
  });
  const console = await openConsole(world);
  const daemon = await world.start();
  const list = () => console.json<Known[]>('destinations', 'list');
  const inspections = world.critical('Vault', 2);
  await until('both are held', async () => (await list()).filter(({ waiting }) => waiting === 2).length === 2);
  const logged = () =>
    daemon.log('alerts are held for a destination that is not approved, and no fallback is configured');
  const known = (await list()).map(({ id }) => id).toSorted();
  await until('the log names both', () => new Set(logged().map(({ destination }) => destination)).size === 2);
  expect([...new Set(logged().map(({ destination }) => destination))].toSorted()).toEqual(known);
  expect(world.reconciler.count()).toBe(0);
  await daemon.stop();

  const hook = (await list()).find(({ kind }) => kind === 'webhook');
  expect(await console.run('destinations', 'revoke', hook?.id ?? '', '--drop')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/: revoked, 2 alerts given up\n$/),
  });
  expect(await console.json<unknown[]>('dead', 'list')).toMatchObject(
    Array(2).fill({ reason: 'not-approved', destination: { id: hook?.id } }),
  );
  // It is dead, and a retry is held again: nobody approved it.
  const retry = await console.run('dead', 'retry', '--all');
  expect(retry).toMatchObject({
    code: 0,
    out: '2 held until approved\n',
    err: expect.stringContaining(`destinations approve ${hook?.id}`),
  });
  await until('it waits again', async () => (await list()).find(({ id }) => id === hook?.id)?.waiting === 2);

  const all = await console.run('destinations', 'approve', '--all');
  expect(all.err).toContain(
    `was revoked and is left out; to approve it all the same: tocsin destinations approve ${hook?.id}`,
  );
  const named = await console.run('destinations', 'approve', hook?.id ?? '');
  const approved = { out: `${all.out}${named.out}`, err: `${all.err}${named.err}` };
  expect(approved.out.match(/approved, and 2 alerts/g)).toHaveLength(2);
  expect(approved.err).toMatch(/no daemon sends/);
  expect((await list()).map(({ state }) => state)).toEqual(['approved', 'approved']);
  await world.start();
  await world.balanced();
  for (const { txHash } of inspections) expect(world.reconciler.arrivalsOf(txHash)).toHaveLength(2);

  const slack = (await list()).find(({ kind }) => kind === 'slack');
  expect(await console.run('destinations', 'revoke', slack?.label ?? '')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/: revoked\n$/),
  });
  const [late] = world.critical('Vault');
  await until('it is held again', async () => (await list()).find(({ kind }) => kind === 'slack')?.waiting === 1);
  await until('the other has it', () => world.reconciler.arrivalsOf(late?.txHash ?? '').length === 1);
  // A replay needs the approval as well, unless it names where to.
  const replayed = await console.run('replay', '--since', '30m', '--yes');
  expect(replayed.err).toContain(`destinations approve ${slack?.id}`);
  const direct = await console.run('replay', '--since', '30m', '--yes', '--to', `slack:${slack?.label}`);
  expect(direct).toMatchObject({ code: 0, err: '' });
});

test('a finding that comes as inspection and notification is one message, for the fallback and once approved', async () => {
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['slack', 'email', 'webhook'],
    config: {
      destinations: { gate: true },
      fallback: { after: '1h', channels: [{ name: 'email', contacts: [ONCALL] }] },
      alerts: { correlate: true },
      poll: { interval: '1s' },
    },
  });
  const console = await openConsole(world);
  const daemon = await world.start();
  await daemon.watching();
  const [first, second] = [`0x${'0a'.repeat(32)}`, `0x${'0b'.repeat(32)}`];
  const inspection = (txHash: string) =>
    world.sandbox.service.insertInspection({ protocol: 'Vault', assessment: 'critical', txHash });
  world.notification('Vault', `Read before its inspection: ${first}`);
  inspection(first);
  inspection(second);
  await until('the fallback has both', () =>
    [first, second].every((hash) => mails(world).some((text) => text.includes(hash))),
  );
  world.notification('Vault', `Read after its inspection: ${second}`);
  await until('both are covered', () => daemon.log('an inspection covers this notification').length >= 2);
  await daemon.idle();
  for (const hash of [first, second]) expect(mails(world).filter((text) => text.includes(hash))).toHaveLength(1);
  expect(mails(world).join()).not.toMatch(/Read (before|after) its/);

  await console.run('destinations', 'approve', '--all');
  const texts = () => slackAt(world, 'C0SANDBOX01').map(({ text }) => text);
  await until('both have come', () => [first, second].every((hash) => texts().join().includes(hash)));
  await daemon.idle();
  expect(texts().join()).not.toMatch(/Read (before|after) its/);
});
