/** Composes acknowledgement: buttons and links in messages, what they do, and where presses arrive. */
import type { Channel } from '../channels/channel.ts';
import { readerAt } from '../channels/registry.ts';
import type { WithButtons } from '../deliver/stage.ts';
import { createThreadClaims } from '../deliver/thread-store.ts';
import { createAcknowledge, createTellMailboxes, type TellMailboxes } from '../features/acknowledgement/acknowledge.ts';
import { createAttach } from '../features/acknowledgement/attach.ts';
import { createLinkPages } from '../features/acknowledgement/link.ts';
import { listenForPresses } from '../features/acknowledgement/listen.ts';
import { createPressed, type OnRefused } from '../features/acknowledgement/press.ts';
import { createTellReceivers } from '../features/acknowledgement/receivers.ts';
import { createShow } from '../features/acknowledgement/show.ts';
import { createActiveMutes } from '../features/mutes/active.ts';
import { ACKNOWLEDGE } from '../ops/page/acknowledge.ts';
import { createRareWarning } from '../rarely.ts';
import { endedWithin, pause } from '../waiting.ts';
import type { Context } from './context.ts';
import type { Dispatching } from './dispatch.ts';

/** Presses that had no effect: each is counted, and the log tells a flood of one reason in one line a minute. */
export const createOnRefused = ({ metrics, log, now }: Pick<Context, 'metrics' | 'log' | 'now'>): OnRefused => {
  const warn = createRareWarning({ log, now, text: 'a press was refused' });
  return ({ kind, reason }, facts) => {
    metrics.pressesRefused.inc({ kind, reason });
    warn({ kind, reason, ...facts }, `${kind} ${reason}`);
  };
};

export type Acknowledgement = NonNullable<ReturnType<typeof openAcknowledgement>>;

/** For messages that are being changed when a generation ends. */
const SHOW_GRACE_MS = 3000;

/** `ops.publicUrl` may have a path, which its proxy takes away. */
const pageUrl =
  (publicUrl: string) =>
  (link: string): string =>
    `${publicUrl.replace(/[?#].*$/, '').replace(/\/+$/, '')}${ACKNOWLEDGE}${link}`;

/** A message with a link cannot be changed, so another one follows it. */
const tellMailboxesOf = ({ channels, store, log }: Context, dispatching: Dispatching): TellMailboxes | undefined =>
  channels.some(({ withAcknowledgeLink }) => withAcknowledgeLink !== undefined)
    ? createTellMailboxes({
        ...dispatching,
        fallback: dispatching.fallback.destinations,
        ledger: store.ledger,
        names: store.names.all,
        log,
      })
    : undefined;

/** Undefined where the config has it off: then nothing is asked of Redis for it. */
export const openAcknowledgement = (context: Context, dispatching: Dispatching) => {
  const { config, store, channels, lifecycle, stopping: signal, log, tracing, now } = context;
  if (!config.alerts.acknowledge) return undefined;
  const { publicUrl } = config.ops;
  const shared = {
    ...context,
    isOpen: dispatching.isOpen,
    mayMute: config.alerts.muteByButton ? async () => true : dispatching.isTrusted,
    store: store.acknowledgements,
    ledger: store.ledger,
    muteRules: config.mutes,
    names: store.names.all,
    operatorLog: store.operatorLog,
  };
  const showing = new AbortController();
  const show = createShow({
    ...shared,
    claims: createThreadClaims(store.redis, store.prefix),
    signal: showing.signal,
    sleep: pause,
  });
  const onRefused = createOnRefused(context);
  const acknowledge = createAcknowledge({
    ...shared,
    show,
    onAcknowledged: (alerts, { via, destination }) =>
      tracing?.happened('acknowledge', alerts, { 'tocsin.channel': via, 'tocsin.destination': destination }),
    tellMailboxes: tellMailboxesOf(context, dispatching),
    tellReceivers: createTellReceivers({
      ...{ ...dispatching, ledger: store.ledger, log },
      keepsIncidents: ({ kind, address }) =>
        channels.some((channel) => channel.kind === kind && readerAt(channel, address) === 'incidents'),
    }),
  });
  const { states } = createActiveMutes({ config, mutes: store.mutes, now });
  const pressed = createPressed({
    ...shared,
    acknowledge,
    mutes: store.mutes,
    activeMutes: async () => (await states()).active,
    onRefused,
    signal,
  });

  const listen = async ({ kind, buttons }: Channel): Promise<void> => {
    if (buttons === undefined) return;
    const onPress = (press: Parameters<typeof pressed>[1]) => pressed(kind, press);
    const onUnanswered = createRareWarning({ log, now, text: 'the answer to a press did not arrive' });
    await listenForPresses({
      ...{ ...shared, kind, buttons, onPress, onUnanswered },
      ...{ locks: store.locks, signal, sleep: pause },
    });
  };

  return {
    /** Of the messages of a channel. */
    withButtons: (channel: Pick<Channel, 'buttons' | 'withAcknowledgeLink'>): WithButtons =>
      createAttach(channel, {
        ...shared,
        show,
        ...(publicUrl === undefined ? {} : { urlOf: pageUrl(publicUrl) }),
      }),
    links: publicUrl === undefined ? undefined : createLinkPages({ ...shared, acknowledge, onRefused }),
    /** Presses arrive from now on. */
    start: async (): Promise<void> => {
      await store.acknowledgements.key();
      const listening = channels.map(listen);
      lifecycle.onStop('presses', async () => {
        await Promise.all(listening);
        await endedWithin(show.ended(), SHOW_GRACE_MS);
        showing.abort();
        await show.ended();
      });
    },
  };
};
