/** Somebody acknowledges: every message says so, and no daemon escalates it any more. */
import { request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import type { Tree } from './config.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

const ONCALL = 'oncall@example.com';

const configOf = (fallback: Tree, more: Tree = {}): Tree => ({
  alerts: { acknowledge: true },
  channels: { slack: { appToken: 'xapp-sandbox' }, telegram: { timeout: '6s' } },
  fallback: { channels: [{ name: 'email', contacts: [ONCALL] }], ...fallback },
  ...more,
});

type OnFinished = NonNullable<WorldOptions['onFinished']>;

const startAcknowledging = (onFinished: OnFinished, config: Tree): Promise<World> =>
  startWorld({ onFinished, names: ['Vault'], kinds: ['slack', 'telegram', 'email'], config });

const flat = (text: string): string => text.replace(/\s+/g, ' ');

const oncall = ({ sandbox }: World, hash: string) =>
  sandbox.receivers.smtp
    .received()
    .filter(({ destination, text }) => destination === ONCALL && text.toLowerCase().includes(hash));

const slackMessage = async (world: World, hash: string) => {
  const { slack } = world.sandbox.receivers;
  const about = () => slack.received().find(({ text }) => text.toLowerCase().includes(hash));
  await until('Slack has it', () => about() !== undefined);
  const { destination: channel = '', id: ts = '' } = about() ?? {};
  return { channel, ts };
};

const telegramMessage = async (world: World, hash: string) => {
  const { telegram } = world.sandbox.receivers;
  const about = () => telegram.received().find(({ text }) => text.toLowerCase().includes(hash));
  await until('Telegram has it', () => about() !== undefined);
  const { chatId: chat = '', messageId = 0 } = about()?.raw ?? {};
  return { chat, messageId };
};

const connected = async ({ sandbox }: World): Promise<void> => {
  const { slack, telegram } = sandbox.receivers;
  await until('presses can arrive', () => slack.sockets.count() === 1 && telegram.updates.polling() === 1);
};

const one = (world: World): string => {
  const [item] = world.critical('Vault');
  return item?.txHash.toLowerCase() ?? '';
};

test('a press at one daemon stops the fallback of all; what nobody acknowledges goes there although it was delivered', async ({
  onTestFinished,
}) => {
  const world = await startAcknowledging(onTestFinished, configOf({ after: '12s', until: 'acknowledged' }));
  const daemons = [await world.start(), await world.start()];
  for (const daemon of daemons) await daemon.watching();
  await connected(world);
  const { slack, telegram } = world.sandbox.receivers;

  const [pressed, ignored] = [one(world), one(world)];
  const place = await telegramMessage(world, pressed);
  const answer = await telegram.press({ ...place, button: 'Acknowledge' });
  expect(answer).toEqual({
    text: expect.stringMatching(/^Acknowledged by “Ann”, \d\d:\d\d:\d\d UTC\.$/),
    isAlert: false,
  });

  const onSlack = await slackMessage(world, pressed);
  await until('Slack says who', () =>
    slack.edits().some(({ ts, readable }) => ts === onSlack.ts && readable.includes('👀 Ann is on it')),
  );
  await until('Telegram says who', () =>
    telegram.edits().some(({ messageId, text }) => messageId === place.messageId && text.includes('👀 Ann is on it')),
  );
  const changed = telegram.edits().find(({ messageId }) => messageId === place.messageId);
  expect(changed?.keyboard?.flat().map(({ text }) => text)).not.toContain('Acknowledge');

  await slack.press({ ...onSlack, action: 'acknowledge', forged: { value: tokenIn(world, onSlack.ts) } });
  await until('the later one is told', () => slack.whispers().length === 1);
  expect(slack.whispers()[0]).toMatchObject({
    user: 'U0ANN0000',
    readable: expect.stringMatching(/Already acknowledged by “Ann” at/),
  });

  // The daemon that heard the press is gone: only the other one, which did not, can escalate, or let it be.
  const counts = await Promise.all(daemons.map((daemon) => daemon.metric('tocsin_acknowledged_total')));
  expect(counts.toSorted()).toEqual([0, 1]);
  await daemons[counts.indexOf(1)]?.stop();

  await until('the other one is escalated', () => oncall(world, ignored).length > 0);
  expect(oncall(world, ignored)[0]?.text.replace(/\s+/g, ' ')).toMatch(
    /Fallback: nobody acknowledged this within 12 s, so it is yours; it was delivered to/,
  );
  const [later] = [one(world)];
  await until('one after it is escalated, too', () => oncall(world, later).length > 0);
  expect(oncall(world, pressed)).toEqual([]);
});

/** What the button of a Slack message carried before it was acknowledged. */
const tokenIn = ({ sandbox }: World, ts: string): string => {
  const message = sandbox.receivers.slack.received().find(({ id }) => id === ts);
  return /"value":"([^"]+)"/.exec(JSON.stringify(message?.raw.blocks))?.[1] ?? '';
};

test('forged presses do nothing, on any channel', async ({ onTestFinished }) => {
  const config = configOf({ after: '1h' }, { ops: { publicUrl: 'http://tocsin.example.com/' } });
  const world = await startAcknowledging(onTestFinished, config);
  const daemon = await world.start();
  await daemon.watching();
  await connected(world);
  const { slack, telegram, smtp } = world.sandbox.receivers;
  const [hash, other] = [one(world), one(world)];
  const [onSlack, otherOnSlack] = [await slackMessage(world, hash), await slackMessage(world, other)];
  const [onTelegram, otherOnTelegram] = [await telegramMessage(world, hash), await telegramMessage(world, other)];
  const linkOf = (about: string) => {
    const mail = smtp.received().find(({ text }) => text.toLowerCase().includes(about));
    return /http:\/\/tocsin\.example\.com\/acknowledge\/([\w.-]+)/.exec(mail?.text ?? '')?.[1];
  };
  const [link, otherLink] = [await until('a mail', () => linkOf(hash)), await until('a mail', () => linkOf(other))];

  const value = tokenIn(world, onSlack.ts);
  const press = { ...onSlack, action: 'acknowledge' };
  for (const forged of [
    { channelId: 'C0000099' },
    { ts: otherOnSlack.ts },
    { value: tokenIn(world, otherOnSlack.ts) },
    { value: `${value.slice(0, -1)}${value.endsWith('A') ? 'B' : 'A'}` },
    { value: '' },
    { appId: 'A0OTHER' },
  ]) {
    await slack.press({ ...press, forged });
  }
  await slack.press({ ...press, user: { id: 'U9', name: 'eve', team: 'T0OTHER' } });

  const button = { ...onTelegram, button: 'Acknowledge' };
  const keyboard = telegram.received().find(({ raw }) => raw.messageId === onTelegram.messageId)?.raw.keyboard ?? [];
  const data = keyboard.flat().find(({ text }) => text === 'Acknowledge')?.callbackData ?? '';
  const answers = [];
  for (const forged of [
    { chat: '-1009' },
    { messageId: otherOnTelegram.messageId },
    { data: `${data.slice(0, -1)}${data.endsWith('A') ? 'B' : 'A'}` },
    { data: `a:${value}` },
    { data: 'a:' },
  ]) {
    answers.push(await telegram.press({ ...button, forged }));
  }
  telegram.updates.setMember(onTelegram.chat, 4712, 'left');
  answers.push(await telegram.press({ ...button, by: { id: 4712, firstName: 'Eve' } }));
  expect(answers.filter(({ isAlert }) => !isAlert)).toEqual([]);

  const [token = '', expires = '', signature = ''] = link.split('.');
  const [otherToken = '', , otherSignature = ''] = otherLink.split('.');
  for (const made of [
    `${otherToken}.${expires}.${signature}`,
    `${token}.${expires}.${otherSignature === signature ? value : otherSignature}x`,
    `${token}.zzzzzzz.${signature}`,
    `${value}.${expires}.${signature}`,
  ]) {
    expect((await ask(`${daemon.url}/acknowledge/${made}`, 'POST', 'name=Eve')).status).toBe(404);
  }

  const refused = (kind: string, reason: string) => daemon.metric('tocsin_presses_refused_total', { kind, reason });
  await until('Slack has refused all', async () => {
    const counts = await Promise.all(['unknown', 'elsewhere', 'stranger'].map((reason) => refused('slack', reason)));
    return counts.join() === '2,3,2';
  });
  expect(await Promise.all(['unknown', 'elsewhere', 'stranger'].map((one) => refused('telegram', one)))).toEqual([
    3, 2, 1,
  ]);
  expect(await refused('email', 'unknown')).toBe(4);
  expect(await daemon.metric('tocsin_acknowledged_total')).toBe(0);

  // The same ones, as they are, do something.
  await slack.press(press);
  await until('Slack says who', () => slack.edits().some(({ readable }) => readable.includes('👀 ann is on it')));
  expect(slack.edits().filter(({ ts }) => ts !== onSlack.ts)).toEqual([]);
  expect(telegram.edits().filter(({ messageId }) => messageId !== onTelegram.messageId)).toEqual([]);
  expect(await daemon.metric('tocsin_acknowledged_total')).toBe(1);
});

test('what was pressed while no daemon ran acknowledges and mutes nothing', async ({ onTestFinished }) => {
  const world = await startAcknowledging(
    onTestFinished,
    configOf({ after: '1h' }, { alerts: { acknowledge: true, muteByButton: true } }),
  );
  const first = await world.start();
  await first.watching();
  await connected(world);
  const { telegram } = world.sandbox.receivers;
  const hash = one(world);
  const place = await telegramMessage(world, hash);
  await first.idle();
  await first.stop();

  void telegram.press({ ...place, button: 'Mute' });
  void telegram.press({ ...place, button: 'Acknowledge' });
  telegram.updates.expire();
  const second = await world.start();
  await until('it is acknowledged', async () => (await second.metric('tocsin_acknowledged_total')) === 1);
  const refused = () => second.metric('tocsin_presses_refused_total', { kind: 'telegram', reason: 'late' });
  await until('the mute is refused', async () => (await refused()) === 1);
  const later = one(world);
  await telegramMessage(world, later);
});

test('what waits at the fallback already ends when somebody acknowledges it', async ({ onTestFinished }) => {
  const world = await startAcknowledging(onTestFinished, configOf({ after: '1s', until: 'acknowledged' }));
  const daemon = await world.start();
  await daemon.watching();
  await connected(world);
  const { smtp, slack } = world.sandbox.receivers;
  const restore = smtp.script.always(
    { kind: 'reply', code: 451, text: '4.3.0 try later', stage: 'rcpt' },
    { destination: ONCALL },
  );
  const hash = one(world);
  const place = await slackMessage(world, hash);
  await until('it was tried there', () => smtp.attempts().some(({ destination }) => destination === ONCALL));
  await slack.press({ ...place, action: 'acknowledge' });
  await until('Slack says who', () => slack.edits().some(({ readable }) => readable.includes('👀 ann is on it')));
  restore();
  const later = one(world);
  await until('the fallback takes mails again', () => oncall(world, later).length > 0);
  await daemon.idle();
  expect(oncall(world, hash)).toEqual([]);
});

interface Answered {
  status: number;
  text: string;
}

const ask = (url: string, method: string, form?: string): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const headers = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    request(url, { method, agent: false, headers }, (response) => {
      readText(response).then((body) => resolve({ status: response.statusCode ?? 0, text: body }), reject);
    })
      .on('error', reject)
      .end(form);
  });

test('a link in a mail acknowledges by its form only', async ({ onTestFinished }) => {
  const config = configOf({ after: '1h' }, { ops: { publicUrl: 'http://tocsin.example.com/' } });
  const world = await startAcknowledging(onTestFinished, config);
  const daemon = await world.start();
  await daemon.watching();
  const hash = one(world);
  const mail = () => world.sandbox.receivers.smtp.received().find(({ text }) => text.toLowerCase().includes(hash));
  await until('the mail is there', () => mail() !== undefined);
  const [, path = ''] = /http:\/\/tocsin\.example\.com(\/acknowledge\/[\w.-]+)/.exec(mail()?.text ?? '') ?? [];
  const url = `${daemon.url}${path}`;

  const seen = await ask(url, 'GET');
  expect(seen.status).toBe(200);
  expect(seen.text).toContain('Acknowledge 1 alert?');
  expect(seen.text).toContain('Vault');
  expect((await ask(url, 'HEAD')).status).toBe(200);
  expect((await ask(`${url.slice(0, -2)}xx`, 'POST', 'name=Eve')).status).toBe(404);
  expect(await daemon.metric('tocsin_acknowledged_total')).toBe(0);

  const done = await ask(url, 'POST', 'name=Ann+%3Cb%3E');
  expect(done.status).toBe(200);
  expect(done.text).toMatch(/Acknowledged by “Ann &lt;b&gt;”, \d\d:\d\d:\d\d UTC/);
  expect((await ask(url, 'POST', 'name=Bob')).text).toMatch(/Already acknowledged by “Ann &lt;b&gt;”/);
  expect(await daemon.metric('tocsin_acknowledged_total', { kind: 'email' })).toBe(1);
  const { slack } = world.sandbox.receivers;
  await until('Slack says who', () => slack.edits().some(({ readable }) => readable.includes('👀 “Ann <b>” is on it')));
  expect(await daemon.metric('tocsin_presses_refused_total', { kind: 'email', reason: 'unknown' })).toBe(1);
});

test('each mailbox that has an alert hears once who acknowledged it, in the thread of its transaction', async ({
  onTestFinished,
}) => {
  const names = ['Vault', 'Bridge'];
  const kinds = ['slack', 'telegram', 'email'] as const;
  const world = await startWorld({ onFinished: onTestFinished, names, kinds, config: configOf({ after: '1h' }) });
  const { service, receivers } = world.sandbox;
  const { smtp, slack } = receivers;
  // What is found later in a transaction of both takes the place of the message about it.
  const shared = [
    { name: 'email', contacts: ['both@example.com'] },
    { name: 'slack', contacts: ['C0SHARED01'] },
  ];
  for (const { name, apiKey, channels } of service.protocols()) {
    service.replaceChannels({ protocol: name, apiKey }, [...channels, ...shared]);
  }
  const daemons = [await world.start(), await world.start()];
  for (const daemon of daemons) await daemon.watching();
  await connected(world);
  const [{ txHash = '' } = {}] = world.critical('Vault');
  service.insertInspection({ protocol: 'Bridge', assessment: 'critical', txHash });
  const untouched = one(world);

  const mails = () => smtp.received().map(({ destination, raw, text }) => ({ ...raw, destination, said: flat(text) }));
  const news = () => mails().filter(({ said }) => said.includes('“ann” is on '));
  const alerts = (to: string, hash = txHash) =>
    mails().filter(
      ({ destination, said }) => destination === to && said.includes(hash) && !said.includes('“ann” is on '),
    );
  const boxes = ['alerts+bridge@example.com', 'alerts+vault@example.com', 'both@example.com'];
  await until('all have their mails', () => boxes.every((box) => alerts(box).length > 0));
  const grown = await until('one message on Slack shows both', () =>
    slack
      .edits()
      .find(
        ({ destination, readable }) => destination === 'C0SHARED01' && names.every((name) => readable.includes(name)),
      ),
  );
  await Promise.all(daemons.map((daemon) => daemon.idle()));
  await slack.press({ channel: 'C0SHARED01', ts: grown.ts, action: 'acknowledge' });
  await until('they hear it', () => boxes.every((box) => news().some(({ destination }) => destination === box)));
  // What comes later proves that there is no more.
  const later = one(world);
  await until('a later alert has arrived', () => boxes.slice(1).every((box) => alerts(box, later).length > 0));
  await Promise.all(daemons.map((daemon) => daemon.idle()));

  expect(
    news()
      .map(({ destination }) => destination)
      .toSorted(),
  ).toEqual(boxes);
  for (const { destination, subject, headers, html, said } of news()) {
    // Where findings of two protocols came one after the other, each may have a mail of its own.
    const first = alerts(destination).find((alert) => subject === `Re: ${alert.subject}`);
    expect(first, subject).toBeDefined();
    expect(alerts(destination).map(({ messageId }) => messageId)).toContain(headers['in-reply-to']);
    expect(headers.references?.split(' ')[0]).toBe(first?.headers['in-reply-to']);
    expect(headers).not.toHaveProperty('importance');
    expect(said).toMatch(/“ann” is on .*: acknowledged \d\d:\d\d:\d\d UTC on Slack channel C0SHARED01\./);
    const what =
      destination === 'both@example.com'
        ? /2 alerts \((“Vault”, “Bridge”|“Bridge”, “Vault”), 0x[0-9a-f]{4}…[0-9a-f]{4}\)/
        : /1 alert \(/;
    expect(said).toMatch(what);
    expect(html).toMatch(/<body[^>]*>\s*<div class="preheader"[^>]*>“ann” is on /);
  }
  expect(alerts('both@example.com', untouched)).toHaveLength(1);
  const counts = await Promise.all(daemons.map((daemon) => daemon.metric('tocsin_acknowledged_total')));
  expect(counts.toSorted()).toEqual([0, 2]);
});
