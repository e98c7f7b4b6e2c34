/** The scenes of every kind of message, composed as a daemon composes them. */
import type { ChannelKind, Destination, Format, HumanKind } from '../../src/alert.ts';
import type { Channel, ComposeContext, Message } from '../../src/channels/channel.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { emailConfig } from '../../src/channels/email/config.ts';
import { createGuardedPost } from '../../src/channels/http.ts';
import { type ChannelConfigs, openChannels } from '../../src/channels/registry.ts';
import { slackConfig } from '../../src/channels/slack/config.ts';
import { telegramConfig } from '../../src/channels/telegram/config.ts';
import { atOnce } from '../../src/chunks.ts';
import { SENT_AT } from '../../src/features/preview/findings.ts';
import type { Scene } from '../../src/features/preview/scenes.ts';
import { destinationOf } from './alerts.ts';

/** Where the scenes are sent to. */
export const SCENE_DESTINATIONS = {
  email: destinationOf('email', 'security@harbor.example'),
  telegram: destinationOf('telegram', '-1001234567890'),
  slack: destinationOf('slack', 'C024BE91L'),
} satisfies Record<HumanKind, Destination>;

export type SceneKind = keyof typeof SCENE_DESTINATIONS;

export const isSceneKind = (kind: string): kind is SceneKind => Object.hasOwn(SCENE_DESTINATIONS, kind);

/** A team with a simulator, and a runbook for each protocol. */
const presentation = createPresentation({
  links: [
    { label: 'Trace', url: 'https://trace.example/{chain}/{hash}' },
    { label: 'Runbook', url: 'https://runbooks.example/{protocol}#{detector}' },
  ],
});

export const sceneContext = (format: Format): ComposeContext => ({ format, presentation, sentAt: SENT_AT });

const ACKNOWLEDGE_URL = 'https://tocsin.harbor.example/acknowledge?token=sceneTokenOf22Letters_';

/** With its buttons, or in a mail its link. */
const annotated = <Body>({ buttons, withAcknowledgeLink }: Channel<Body>, { annotation }: Scene, body: Body): Body => {
  if (annotation === undefined) return body;
  const linked = annotation.note === undefined ? withAcknowledgeLink?.(body, ACKNOWLEDGE_URL) : undefined;
  return linked ?? buttons?.put(body, annotation) ?? body;
};

/** The messages of a scene for its channel's kind, most urgent first. */
export const composeScene = <Body>(channel: Channel<Body>, scene: Scene, format: Format = 'rich'): Message<Body>[] => {
  const { kind } = channel;
  if (!isSceneKind(kind)) throw new Error(`no destination of the kind ${kind}`);
  const context = { ...sceneContext(format), ...scene.more };
  const parcel = { destination: SCENE_DESTINATIONS[kind], alerts: scene.alerts() };
  const messages = atOnce(channel.compose(parcel, context));
  return messages.map((message) => ({ ...message, body: annotated(channel, scene, message.body) }));
};

export interface SceneChannels {
  /** The messages of a scene; none for a kind that people do not read. */
  compose(kind: ChannelKind, scene: Scene): Message[];
  close(): Promise<void>;
}

/** Opened to compose, not to send. */
export const openSceneChannels = async (): Promise<SceneChannels> => {
  const guard = createGuardedPost({ allowHttp: false, allowNetworks: [] });
  const configs = {
    email: emailConfig.parse({ from: 'Tocsin <tocsin@harbor.example>', smtp: { host: 'localhost' } }),
    slack: slackConfig.parse({ botToken: 'xoxb-none', appToken: 'xapp-none' }),
    telegram: telegramConfig.parse({ botToken: '123456789:none' }),
  } satisfies Required<Pick<ChannelConfigs, HumanKind>>;
  const channels = await openChannels(configs, { post: guard.post, now: Date.now });
  return {
    compose: (kind, scene) =>
      scene.kinds?.includes(kind) === false
        ? []
        : channels.filter((channel) => channel.kind === kind).flatMap((channel) => composeScene(channel, scene)),
    close: async () => {
      await Promise.all(channels.map((channel) => channel.close()));
      await guard.close();
    },
  };
};
