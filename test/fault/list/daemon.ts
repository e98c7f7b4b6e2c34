/** The daemon itself ends or stands still. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import type { StatusReport } from '../../../src/ops/status.ts';
import { until } from '../../support/until.ts';
import type { DaemonProcess } from '../daemon-process.ts';
import type { Fault } from '../fault.ts';
import type { Stage } from '../stage.ts';

const ROUNDS = 4;
/** Alerts that wait at once. */
const STORM = 400;
/** Beyond the lock of a job, again and again; between two of these it has a few seconds to send. */
const STARVED_MS = 11_000;
const FED_MS = 4000;
/** Config changes while alerts flow. */
const RELOADS = 50;
/** A reload waits for the sends of the one before it. */
const RELOADED_WITHIN_MS = 30_000;

const countIn = async (daemon: DaemonProcess, msg: string): Promise<number> =>
  (await daemon.log()).split(`"msg":"${msg}"`).length - 1;
const TAKEN = 'the new config is in force';
const GONE = 'nothing works by the old config any more';

/** The protocol that gets another channel by the config, and its paths. */
const TOGGLED = 'Vault';
const pathOf = (round: number): string => `/hooks/reload/${round}`;

const withChannel = (url: string) => ({
  protocols: { overrides: { [TOGGLED]: { extraChannels: [{ name: 'webhook', url }] } } },
});

/** Another config each time: odd ones add a channel, even ones remove it. Every tenth time one that is refused comes first. */
const reloadOnce = async ({ daemons: [daemon], sandbox }: Stage, round: number): Promise<void> => {
  const config = parse(daemon.configText) as { poll: object };
  const channels = sandbox.service.protocols().flatMap((protocol) => protocol.channels);
  const base = channels.find(({ url }) => url !== undefined)?.url;
  const text = stringify({
    ...config,
    poll: { ...config.poll, lookback: `${15 + round}m` },
    ...(round % 2 === 1 && withChannel(new URL(pathOf(round), base).href)),
  });
  if (round % 10 === 0) await daemon.reload(text.replace('lookback', 'lookbak'));
  const before = await countIn(daemon, TAKEN);
  await daemon.reload(text);
  await until('the config is in force', async () => (await countIn(daemon, TAKEN)) > before, RELOADED_WITHIN_MS);
};

/** What is written from now on goes to the channel that was added, and not to the one that was removed. */
const useChannel = async ({ daemons: [daemon], sandbox, books }: Stage, round: number): Promise<void> => {
  // Its last poll sends what it finds by the old config.
  const isGone = async () => (await countIn(daemon, GONE)) === (await countIn(daemon, TAKEN));
  await until('the old config is gone', isGone, RELOADED_WITHIN_MS);
  const { txHash } = sandbox.service.insertInspection({ protocol: TOGGLED, assessment: 'critical' });
  if (round % 2 === 1) books.also.must(`webhook ${pathOf(round)} ${txHash}`);
  else books.also.mustNot(`webhook ${pathOf(round - 1)} ${txHash}`);
  // From then on it is queued for all; what is slow is still in flight as the next config comes.
  await until('it is found', () => books.arrivalsOf(txHash).length > 0, RELOADED_WITHIN_MS);
};

/** The protocol that the config leaves out for a while. */
const LEFT_OUT = 'Bridge';

const takeConfig = async (daemon: DaemonProcess, text: string): Promise<void> => {
  const before = await countIn(daemon, GONE);
  await daemon.reload(text);
  await until('the old config is gone', async () => (await countIn(daemon, GONE)) > before, RELOADED_WITHIN_MS);
};

/** Three alerts that nobody is owed, dated some seconds ago: the clock of a service is known to the second. */
const writeUnowed = ({ sandbox: { service }, books }: Stage): void => {
  const at = service.now() - 5000;
  const dates = { createdAt: at, updatedAt: at, txTimestamp: at };
  for (let n = 0; n < 3; n += 1) service.insertInspection({ protocol: LEFT_OUT, assessment: 'critical', ...dates });
  const unowed = books.lost();
  for (const line of unowed) books.also.mustNot(line);
  books.excuse(...unowed);
};

const isRead = async ({ sandbox, books }: Stage, protocol: string): Promise<void> => {
  const { txHash } = sandbox.service.insertInspection({ protocol, assessment: 'critical' });
  await until(`${protocol} is read`, () => books.arrivalsOf(txHash).length > 0, RELOADED_WITHIN_MS);
};

const reportOf = async (daemon: DaemonProcess): Promise<StatusReport> =>
  (await (await fetch(`${daemon.url()}/status.json`)).json()) as StatusReport;

/** The protocol is left out and comes back; what was written between is no alert, and `status` says what would bring it. */
const leavingOut =
  (leaveAndComeBack: (stage: Stage) => Promise<void>) =>
  async (stage: Stage): Promise<void> => {
    const { daemons, books, stream } = stage;
    stream.stop();
    await until('all has arrived', () => books.lost().length === 0, RELOADED_WITHIN_MS);
    await leaveAndComeBack(stage);
    await isRead(stage, LEFT_OUT);
    const { problems } = await reportOf(daemons[0]);
    if (!problems.some((text) => text.includes(`tocsin replay --protocol ${LEFT_OUT}`)))
      throw new Error(problems.join());
    stream.start();
  };

const excludeForAWhile = leavingOut(async (stage) => {
  const [daemon] = stage.daemons;
  const config = parse(daemon.configText) as { protocols?: object };
  await takeConfig(daemon, stringify({ ...config, protocols: { ...config.protocols, exclude: [LEFT_OUT] } }));
  writeUnowed(stage);
  await isRead(stage, TOGGLED);
  await takeConfig(daemon, daemon.configText);
});

const deleteForAWhile = leavingOut(async (stage) => {
  const { daemons, sandbox } = stage;
  const { service } = sandbox;
  const isWatched = async (): Promise<boolean> =>
    (await reportOf(daemons[0])).protocols.some(({ name }) => name === LEFT_OUT);
  const old = service.protocols().find(({ name }) => name === LEFT_OUT);
  if (old === undefined) throw new Error(`${LEFT_OUT} is not listed`);
  const { name, apiKey, channels } = old;
  service.removeProtocol({ protocol: name, apiKey });
  await until('it is watched no more', async () => !(await isWatched()), RELOADED_WITHIN_MS);
  // Beyond the dates of what is written now.
  await sleep(6000);
  service.addProtocol(apiKey, { name, channels });
  writeUnowed(stage);
  await until('it is watched again', isWatched, RELOADED_WITHIN_MS);
});

/** Receivers take their time, so that something is in flight at any moment. */
export const slowReceivers = ({ sandbox }: Stage, durationMs: number): (() => void) => {
  const { slack, telegram, webhook } = sandbox.receivers;
  const ends = [slack, telegram, webhook].map(({ script }) => script.always({ kind: 'slow', durationMs }));
  return () => {
    for (const end of ends) end();
  };
};

export const DAEMON_FAULTS: readonly Fault[] = [
  {
    name: 'kill',
    what: 'kill -9 of the daemon at random moments, four times, while sends take 200 ms',
    doubles: 'in flight',
    isQuick: true,
    grip: 'daemon',
    strike: async (stage) => {
      const [daemon] = stage.daemons;
      const endSlowness = slowReceivers(stage, 200);
      for (let round = 0; round < ROUNDS; round += 1) {
        await sleep(500 + stage.random.below(1500));
        await daemon.kill();
        await daemon.start();
      }
      endSlowness();
    },
  },
  {
    name: 'term',
    what: 'SIGTERM during sends that take 2 s, twice',
    doubles: 'none',
    strike: async (stage) => {
      const [daemon] = stage.daemons;
      const endSlowness = slowReceivers(stage, 2000);
      for (let round = 0; round < 2; round += 1) {
        await sleep(1000 + stage.random.below(2000));
        const code = await daemon.terminate();
        if (code !== 0) throw new Error(`SIGTERM: exit code ${code}`);
        await daemon.start();
      }
      endSlowness();
    },
  },
  {
    name: 'reload',
    what: `the config adds a channel or removes it, ${RELOADS} times, while sends take 200 ms; every tenth time a wrong one comes first`,
    doubles: 'none',
    stage: { perSecond: 20 },
    strike: async (stage) => {
      const endSlowness = slowReceivers(stage, 200);
      stage.books.also.may('webhook /hooks/reload/');
      for (let round = 1; round <= RELOADS; round += 1) {
        await reloadOnce(stage, round);
        await useChannel(stage, round);
      }
      endSlowness();
    },
  },
  {
    name: 'included-again',
    what: 'the config leaves a protocol out, then has it again: what was written meanwhile is no alert, and status names the replay',
    doubles: 'none',
    strike: excludeForAWhile,
  },
  {
    name: 'made-again',
    what: 'a protocol is deleted at the service and made anew: what is dated between is no alert, and status names the replay',
    doubles: 'none',
    strike: deleteForAWhile,
  },
  {
    name: 'freeze',
    what: 'SIGSTOP for 15 s, beyond every lock, then SIGCONT',
    doubles: 'in flight',
    grip: 'daemon',
    strike: async ({ daemons: [daemon] }) => {
      daemon.freeze();
      await sleep(15_000);
      daemon.thaw();
    },
  },
  {
    name: 'starved',
    what: `a daemon that gets no CPU for 11 s, four times, with ${STORM} alerts at once, while sends take 1 s`,
    doubles: 'in flight',
    doublesPerDestination: ROUNDS,
    strike: async (stage) => {
      const { daemons, sandbox, names } = stage;
      const [daemon] = daemons;
      const endSlowness = slowReceivers(stage, 1000);
      for (let n = 0; n < STORM; n += 1) {
        sandbox.service.insertInspection({ protocol: names[n % names.length] ?? '', assessment: 'critical' });
      }
      for (let round = 0; round < ROUNDS; round += 1) {
        await sleep(FED_MS);
        daemon.freeze();
        await sleep(STARVED_MS);
        daemon.thaw();
      }
      endSlowness();
    },
  },
];
