/**
 * Messages that a daemon really sent: it reads the sandbox's service, and the sandbox's strict receivers keep what they got.
 * Each message is drawn as it stands at last; a locked phone shows the last that arrived.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Alert, HumanKind } from '../../src/alert.ts';
import { sandboxEnvironment } from '../../src/cli/sandbox.ts';
import { parseConfig } from '../../src/config/load.ts';
import { digest, finding, hashOf, ORIGIN, POOL_A } from '../../src/features/preview/findings.ts';
import { SCENES } from '../../src/features/preview/scenes.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Reader } from '../../src/sandbox/screens/reader.ts';
import type { InspectionSeed, SandboxInspection } from '../../src/sandbox/service/model.ts';
import { configTextOf } from '../../test/scenario/config.ts';
import { type RunningDaemon, startDaemon } from '../../test/scenario/daemons.ts';
import { ownRedis } from '../../test/support/redis-server.ts';
import { until } from '../../test/support/until.ts';
import { READER } from './surfaces.ts';

export interface Played {
  group: string;
  /** What its reader shall know within three seconds. */
  says: readonly string[];
  /** As they stand at last, oldest first. */
  bodies: Record<HumanKind, unknown[]>;
  /** Somebody in Berlin, right after it. */
  reader: Reader;
  /** The last that arrived of each kind, as it came. */
  last: Record<HumanKind, unknown>;
}

interface Stage {
  sandbox: Sandbox;
  /** The service writes this alert's item, now. */
  write(alert: Alert | undefined): SandboxInspection;
  /** Waits until each messenger has so many messages, and mailboxes have one or more. */
  messages(count: number, mails?: number): Promise<void>;
  /** Waits until each kind has messages that name these. */
  named(...names: string[]): Promise<void>;
  /** The first Slack message is acknowledged, and says so. */
  acknowledge(): Promise<void>;
}

interface Play extends Pick<Played, 'group' | 'says'> {
  play(stage: Stage): Promise<void>;
}

const alertsOf = (name: string): Alert[] => SCENES.find((scene) => scene.name === name)?.alerts() ?? [];

const SIX = alertsOf('incident of six');
/** Between the protocols of an incident: six in twenty seconds. */
const NEXT_MS = 4000;
const FLOOD = 98;

const REAL = finding({
  ...{ label: 'real', protocol: 'Harbor Lending', assets: [POOL_A], origin: ORIGIN },
  fired: { drasticBalanceChange: 'Token balance dropped 92% below its 24 h mean', flashLoan: '2250565 WETH borrowed' },
});
const decoy = (n: number): Alert =>
  finding({
    ...{ label: `decoy ${n}`, protocol: 'Meridian Swap', assets: [] },
    fired: { drasticBalanceChange: 'Token balance of a new pair dropped 100% below its 24 h mean' },
  });

export const PLAYS: readonly Play[] = [
  {
    group: 'single',
    says: ['Harbor Lending is critical: the balance of Pool A dropped by 90% in a flash loan'],
    play: async ({ write, messages }) => {
      write(alertsOf('single')[0]);
      await messages(1);
    },
  },
  {
    group: 'follow-ups',
    says: ['What was critical in Harbor Lending is ok now', 'The service does not list it any more'],
    play: async ({ sandbox, write, messages }) => {
      const [ok, gone] = [write(alertsOf('single')[0]), write(alertsOf('privileged')[0])];
      await messages(2, 2);
      sandbox.service.changeInspection(ok._id, { assessment: 'ok' });
      await messages(3, 3);
      sandbox.service.removeInspection(gone._id);
      await messages(4, 4);
    },
  },
  {
    group: 'incident of six',
    says: [
      'One transaction is critical for six protocols, found one after the other in 20 s; what is new is said aloud',
    ],
    play: async ({ write, messages }) => {
      for (const alert of SIX) {
        write(alert);
        await delay(NEXT_MS);
      }
      await messages(3);
    },
  },
  {
    group: 'acknowledgement',
    says: ['Ann is on what was found first', 'What was found since has nobody'],
    play: async ({ write, messages, acknowledge }) => {
      write(SIX[0]);
      await messages(1);
      await acknowledge();
      write(SIX[1]);
      await messages(2, 2);
    },
  },
  {
    group: 'digest of 12',
    says: [
      '12 critical alerts in Harbor Lending at once; the worst are of different kinds, a transfer of ownership among them',
    ],
    play: async ({ write, messages }) => {
      // A third of them is suspicious, which nobody gets.
      for (const alert of digest(18)) write({ ...alert, item: { ...alert.item, protocol: 'Harbor Lending' } });
      await messages(1);
    },
  },
  {
    group: 'flood with one real finding',
    says: [`A real finding in Harbor Lending, beside ${FLOOD} that are alike in Meridian Swap`],
    play: async ({ write, named }) => {
      for (let n = 0; n < FLOOD; n += 1) write(decoy(n));
      write(REAL);
      await named('Harbor Lending', 'Meridian Swap');
    },
  },
  {
    group: 'notification of 100 kB',
    says: ['The service has a long message about Harbor Lending: Pool A lost 90%; the whole is in the file'],
    play: async ({ sandbox, messages }) => {
      const message = `CRITICAL: Pool A lost 90% of its WETH within one block.\n${'A holder lost 1,250.75 WETH. '.repeat(3600)}`;
      sandbox.service.insertNotification({ protocol: 'Harbor Lending', message });
      await messages(1);
    },
  },
];

export const isPlayed = (group: string): boolean => PLAYS.some((play) => play.group === group);

const CHANNELS = [
  { name: 'slack', contacts: ['C024BE91L'] },
  { name: 'telegram', contacts: ['-1001234567890'] },
  { name: 'email', contacts: ['security@harbor.example'] },
];

const bodiesIn = ({ receivers: { slack, telegram, smtp } }: Sandbox) => ({
  slack: slack.received().flatMap(({ id, raw }) => {
    if (raw.method !== 'chat.postMessage') return [];
    const [file] = slack.received().flatMap(({ partOf, raw: part }) => (partOf === id ? part.files : []));
    const shown = slack.edits().findLast(({ ts }) => ts === id) ?? raw;
    const asFile = file && { file: { name: file.filename, text: file.content.toString() } };
    return [{ first: raw, shown: { ...shown, ...asFile } }];
  }),
  telegram: telegram.received().map(({ raw }) => {
    const shownAs = ({ source, keyboard = [] }: Pick<typeof raw, 'source' | 'keyboard'>) => ({
      ...{ text: source, parse_mode: 'HTML', reply_markup: { inline_keyboard: keyboard } },
      ...(raw.document && { file: { name: raw.document.filename, text: raw.document.content.toString() } }),
    });
    const edit = telegram.edits().findLast(({ messageId }) => messageId === raw.messageId);
    return { first: shownAs(raw), shown: shownAs(edit ?? raw) };
  }),
  email: smtp.received().map(({ raw: { subject, text, html, attachments } }) => {
    const mail = { subject, text, html, attachments: attachments.map(({ filename }) => ({ filename })) };
    return { first: mail, shown: mail };
  }),
});

/** A play has transactions of its own, made when it begins: a message of an earlier one would grow. */
const stageOf = (sandbox: Sandbox, group: string): Stage => {
  const { service, receivers } = sandbox;
  const txTimestamp = Date.now();
  const messages: Stage['messages'] = async (count, mails = 1) => {
    await until(
      `${count} messages`,
      () => {
        const { slack, telegram, email } = bodiesIn(sandbox);
        return slack.length >= count && telegram.length >= count && email.length >= mails;
      },
      60_000,
    );
  };
  return {
    ...{ sandbox, messages },
    named: async (...names) => {
      await until(`messages about ${names}`, () =>
        Object.values(bodiesIn(sandbox)).every((all) => names.every((name) => JSON.stringify(all).includes(name))),
      );
    },
    write: (alert) => {
      const { _id, createdAt: _createdAt, updatedAt: _updatedAt, ...item } = (alert?.item ?? {}) as InspectionSeed;
      const txHash = hashOf(`${group} ${item.txHash}`);
      return service.insertInspection({ ...item, txHash, txTimestamp });
    },
    acknowledge: async () => {
      const [first] = receivers.slack.received();
      const user = { id: 'U0ANN0000', name: 'Ann' };
      await receivers.slack.press({
        channel: first?.destination ?? '',
        ts: first?.id ?? '',
        action: 'acknowledge',
        user,
      });
      await until('it says who', () => JSON.stringify(bodiesIn(sandbox).telegram).includes('Ann is on it'));
    },
  };
};

const start = async (sandbox: Sandbox, redisUrl: string, dataDir: string) => {
  const addresses = await sandbox.start();
  for (const { name: protocol, apiKey } of sandbox.service.protocols()) {
    sandbox.service.replaceChannels({ protocol, apiKey }, CHANNELS);
  }
  const text = await configTextOf(['email', 'telegram', 'slack', 'webhook'], {
    redis: { url: redisUrl, prefix: '{pictures}' },
    alerts: { acknowledge: true, secondLook: ['2s', '4s', '8s'] },
    // Those of a real workspace and chat.
    channels: { slack: { appToken: 'xapp-sandbox', rateLimit: null }, telegram: { timeout: '6s', rateLimit: null } },
    poll: { lookback: '500ms', overlap: '200ms', sweepEvery: '200ms', startFrom: 'now' },
  });
  const variables = { ...sandboxEnvironment(addresses), TOCSIN_OPS_LISTEN: '127.0.0.1:0', TOCSIN_DATA_DIR: dataDir };
  const daemon = await startDaemon(parseConfig(text, 'pictures.yaml', variables));
  await daemon.watching();
  const { slack, telegram } = sandbox.receivers;
  await until('presses can arrive', () => slack.sockets.count() === 1 && telegram.updates.polling() === 1);
  return daemon;
};

/** Plays those that are wanted, one after the other, to receivers that forget what was before. */
export const playAll = async (isWanted: (group: string) => boolean): Promise<Played[]> => {
  const redis = await ownRedis();
  const dataDir = await mkdtemp(join(tmpdir(), 'tocsin-pictures-'));
  const sandbox = createSandbox({ protocols: SIX.map(({ protocol: name }) => ({ name })) });
  const played: Played[] = [];
  let daemon: RunningDaemon | undefined;
  try {
    daemon = await start(sandbox, `redis://127.0.0.1:${redis.port}`, dataDir);
    for (const { group, says, play } of PLAYS.filter((one) => isWanted(one.group))) {
      for (const receiver of Object.values(sandbox.receivers)) receiver.clear();
      await play(stageOf(sandbox, group));
      await daemon.idle();
      const { slack, telegram, email } = bodiesIn(sandbox);
      const at = (part: 'first' | 'shown', all: readonly { first: unknown; shown: unknown }[]) =>
        all.map((one) => one[part]);
      played.push({
        ...{ group, says, reader: { now: Date.now(), timeZone: READER.timeZone } },
        bodies: { slack: at('shown', slack), telegram: at('shown', telegram), email: at('shown', email) },
        last: { slack: slack.at(-1)?.first, telegram: telegram.at(-1)?.first, email: email.at(-1)?.first },
      });
    }
  } finally {
    await daemon?.stop();
    await sandbox.stop();
    await redis.remove();
    await rm(dataDir, { recursive: true, force: true });
  }
  return played;
};
