/** Who has the service's write key tries to bury alerts: the people have them, or somebody hears of what was changed. */
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { EVIL, email, FALLBACK, keyOf, mailsTo, ONCALL, watch } from './attacked.ts';

const HASH = `0x${'ed'.repeat(32)}`;
const CHANNEL = [{ name: 'slack', contacts: ['C0VAULT0001'] }];
const CHANGED = 'The protocol “Vault” has other channels at the monitoring service “sandbox”';

test('who reads a protocol through the fallback hears that somebody else was made its reader', async () => {
  const { service, told, critical } = await watch(['Vault'], FALLBACK, { channels: [] });
  await told(ONCALL, critical('Vault').txHash);
  service.replaceChannels({ protocol: 'Vault' }, email(EVIL));
  await told(EVIL, CHANGED);
  await told(ONCALL, CHANGED);
});

test('a change while the old readers cannot be reached is heard by the fallback', async () => {
  const options = { kinds: ['email', 'slack'], channels: CHANNEL } as const;
  const { service, told, critical, slack } = await watch(['Vault'], FALLBACK, { ...options, channels: CHANNEL });
  const repair = slack.revokeToken();
  critical('Vault');
  await told(ONCALL, 'Slack has revoked the bot token of Tocsin');
  service.replaceChannels({ protocol: 'Vault' }, email(EVIL));
  await told(ONCALL, CHANGED);
  repair();
});

test('a change while the chat of the old readers is jammed is heard by the fallback', async () => {
  const options = { kinds: ['email', 'slack'], channels: CHANNEL } as const;
  const { service, told, slack } = await watch(['Vault'], FALLBACK, options);
  slack.script.always({ kind: 'answer', status: 429, headers: { 'retry-after': '600' } });
  service.replaceChannels({ protocol: 'Vault' }, email(EVIL));
  await told(EVIL, CHANGED);
  await told(ONCALL, CHANGED);
  await told(ONCALL, 'Fallback: it could not be delivered to anybody else within 2 s, so it is yours. Slack channel');
});

test('the old readers hear of a change before the decoys that fill the topics of their chat', async () => {
  const CHAT = '-1001234567890';
  const telegram = (...contacts: string[]) => [{ name: 'telegram', contacts }];
  const { world, service, told, critical, daemon } = await watch(
    ['Vault'],
    { channels: { telegram: { rateLimit: { perSecond: 2, burst: 1 } } } },
    { kinds: ['email', 'telegram'], channels: telegram(CHAT) },
  );
  const decoys = Array.from({ length: 140 }, (_, n) => `decoy ${n}`);
  for (const [n, name] of decoys.entries()) {
    const topics = Array.from({ length: 20 }, (_, topic) => `${CHAT}/${1000 + 20 * n + topic}`);
    service.addProtocol(keyOf(world), { name, channels: telegram(...topics) });
  }
  for (const name of decoys) critical(name);
  const jammed = async () => (await daemon.status()).queues.some(({ delayed }) => delayed > 19 * decoys.length);
  await until('the chat is jammed', jammed, 60_000);
  service.replaceChannels({ protocol: 'Vault' }, email(EVIL));
  await told(EVIL, CHANGED);
  const posts = () => world.sandbox.receivers.telegram.received();
  const before = posts().length;
  const heard = () => posts().findIndex(({ destination, text }) => destination === CHAT && text.includes(CHANGED));
  // Fifty decoys before it are too many.
  await until('the chat hears it', () => heard() !== -1 || posts().length > before + 50, 60_000);
  expect(heard()).not.toBe(-1);
});

test('a decoy that was found in the same transaction makes nothing silent', async () => {
  const { world, service, told, critical, slack } = await watch(
    ['Vault', 'Decoy'],
    { alerts: { correlate: true } },
    { kinds: ['email', 'slack'], channels: [...CHANNEL, ...email('vault@example.com')] },
  );
  service.replaceChannels({ protocol: 'Decoy' }, [...CHANNEL, ...email('vault@example.com')]);
  await told('vault@example.com', 'The protocol “Decoy” has other channels');
  const posts = (said: string) => slack.received().filter(({ text }) => text.includes(said) && text.includes(HASH));
  critical('Decoy', HASH);
  await until('the decoy is there', () => posts('CRITICAL · Decoy').length > 0);
  await told('vault@example.com', HASH);
  world.notification('Vault', `All of the vault went out in ${HASH}`);
  await told('vault@example.com', 'All of the vault went out');
  critical('Vault', HASH);
  // In the place of the other one nobody hears of it.
  await until('a reply with a sound names the real one', () => posts('Now 2 protocols (+ Vault)').length > 0);
  expect(mailsTo(world, 'vault@example.com', 'All of the vault went out')).toHaveLength(1);
});

test('decoys that lose the same reader at the same time do not hide which protocol is meant', async () => {
  const { world, service, owner, told } = await watch(['Vault']);
  const names = Array.from({ length: 20 }, (_, n) => `decoy ${n}`);
  for (const name of names) service.addProtocol(keyOf(world), { name, channels: email(owner('Vault')) });
  await told(owner('Vault'), '20 protocols were changed');
  for (const protocol of names) service.replaceChannels({ protocol }, []);
  service.replaceChannels({ protocol: 'Vault' }, email(EVIL));
  await told(owner('Vault'), 'Protocol “Vault” has other channels');
});

test('a critical is heard by whatever word the service calls it', async () => {
  const { world, service, owner, told } = await watch(['Vault'], {
    ...{ alerts: { harmless: ['info'] }, poll: { requestsPerSecond: 500 } },
    // So often it is looked which inspections there are.
    protocols: { overrides: { Vault: { expectEvery: '20s' } } },
  });
  const harmless = service.insertInspection({ protocol: 'Vault', assessment: 'Info' });
  const { txHash } = service.insertInspection({ protocol: 'Vault', assessment: 'o\u200bk' });
  await told(owner('Vault'), txHash);
  expect(mailsTo(world, owner('Vault'), txHash)[0]?.text).toContain('CRITICAL');
  expect(mailsTo(world, owner('Vault'), harmless.txHash)).toEqual([]);
});

test('a change is heard before the alerts of a decoy with a thousand mailboxes are sent', async () => {
  const { service, owner, told, critical, daemon } = await watch(['Vault', 'Decoy']);
  const mailboxes = Array.from({ length: 1000 }, (_, n) => `evil${n}@example.com`);
  service.replaceChannels({ protocol: 'Decoy' }, email(...mailboxes));
  await told('evil0@example.com', 'The protocol “Decoy” has other channels');
  const waiting = async () => (await daemon.status()).queues.reduce((sum, queue) => sum + queue.waiting, 0);
  for (let n = 0; n < 10; n += 1) critical('Decoy');
  await until('the decoy fills the queue', async () => (await waiting()) > 500);
  service.replaceChannels({ protocol: 'Vault' }, email(EVIL));
  await told(owner('Vault'), CHANGED);
  expect(await waiting()).toBeGreaterThan(0);
});

test('an id that people had an alert of hides no other transaction, and mutes none', async () => {
  const window = { protocols: ['Test*'], from: '00:00', to: '24:00', reason: 'tests' };
  const { world, service, owner, told, critical, console } = await watch(['Vault', 'Test'], {
    mutes: { windows: [window] },
  });
  const { _id: id, txHash: first } = critical('Vault');
  await told(owner('Vault'), first);
  const now = service.now();
  service.changeInspection(id, { txHash: HASH, createdAt: now, txTimestamp: now });
  await told(owner('Vault'), HASH);

  service.replaceChannels({ protocol: 'Test' }, email(owner('Vault')));
  await told(owner('Vault'), 'The protocol “Test” has other channels');
  const muted = critical('Test');
  await until('it is muted', async () => (await console.run('trace', muted._id)).out.includes('muted'));
  service.insertInspection({ ...muted, protocol: 'Vault' });
  await told(owner('Vault'), muted.txHash);
  expect(mailsTo(world, owner('Vault'), first)).toHaveLength(1);
});

test.each([
  ['another', []],
  ['an excluded', ['Decoy']],
])(
  'an inspection that names %s protocol is heard by those for whom it is listed, and told',
  async (_which, exclude) => {
    const { world, service, owner, told, critical, daemon } = await watch(
      ['Vault', 'Decoy'],
      { ...FALLBACK, protocols: { exclude } },
      { limits: { misfitWaitMs: 2000 } },
    );
    const createdAt = new Date().toISOString();
    const item = { _id: 'ab'.repeat(12), txHash: HASH, protocol: 'Decoy', assessment: 'critical', createdAt };
    const match = { endpoint: 'listInspections', protocol: 'Vault', times: Infinity } as const;
    service.addFault({ ...match, fault: { kind: 'malformed-item', item } });
    critical('Vault');
    await told(owner('Vault'), HASH);
    await told(ONCALL, '“Vault”: an inspection that names “Decoy”');
    expect(mailsTo(world, owner('Decoy'), HASH)).toEqual([]);
    const what = 'sandbox: strange inspections are listed for “Vault”';
    const { troubles } = await daemon.status();
    expect(troubles.filter(({ name }) => name === 'misfits')).toMatchObject([
      { what, why: 'an inspection that names “Decoy”', announcedTo: [ONCALL] },
    ]);
    expect((await daemon.ask('/')).text).toContain(what);
    expect(await daemon.metric('tocsin_trouble', { trouble: 'misfits' })).toBe(1);
  },
);

test('copies of one finding on more pages than a walk looks at hide nothing that is dated later, and are told', async () => {
  const { world, service, owner, told, daemon } = await watch(['Vault'], FALLBACK);
  const at = service.now() - 10_000;
  const copy = { _id: 'ab'.repeat(12), txHash: HASH, createdAt: at, updatedAt: at, txTimestamp: at };
  for (let n = 0; n < 2600; n += 1) service.insertInspection({ protocol: 'Vault', assessment: 'critical', ...copy });
  await told(owner('Vault'), HASH);
  const { txHash } = service.insertInspection({ protocol: 'Vault', assessment: 'critical' });
  await told(owner('Vault'), txHash);
  await told(ONCALL, 'the same items on page after page');
  expect(mailsTo(world, owner('Vault'), HASH)).toHaveLength(1);
  expect((await daemon.status()).troubles.map(({ name }) => name)).toContain('misfits');
});

test('equal notifications of a neighbour hide no stored notification that is dated later', async () => {
  const { service, owner, told } = await watch(['Vault', 'Decoy']);
  const createdAt = service.now() - 10_000;
  for (let n = 0; n < 2600; n += 1)
    service.insertNotification({ protocol: 'Decoy', message: 'Self test. Nothing moved', createdAt });
  await told(owner('Decoy'), 'Self test');
  service.insertNotification({ protocol: 'Vault', message: 'All of the vault went out' });
  await told(owner('Vault'), 'All of the vault went out');
});

test('a stored notification is not covered by an inspection of its transaction that was heard long before', async () => {
  let behindMs = 90_000;
  const now = () => Date.now() - behindMs;
  const { world, owner, told, critical, console } = await watch(['Vault'], { alerts: { correlate: true } }, { now });
  critical('Vault', HASH);
  await told(owner('Vault'), HASH);
  world.notification('Vault', `Self test in ${HASH}`);
  const covered = async () => (await console.run('trace', HASH)).out.includes('covers it');
  await until('what is stored beside it is covered', covered);
  behindMs = 0;
  world.notification('Vault', `All of the vault went out in ${HASH}`);
  await told(owner('Vault'), 'All of the vault went out');
  expect(mailsTo(world, owner('Vault'), 'Self test')).toEqual([]);
});
