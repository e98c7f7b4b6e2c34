/** Buttons below a Slack message, and the answer to the person who pressed one. Pure. */
import type { ActionsBlock, Button as ButtonElement, ContextBlock, KnownBlock } from '@slack/types';
import type { Destination } from '../../alert.ts';
import { type Annotation, BUTTONS, type Buttons, type Press } from '../channel.ts';
import type { Line } from '../content/content.ts';
import { objectIn, textIn } from '../content/foreign.ts';
import { aroundSign } from '../content/severity.ts';
import { isHook, parsePlace } from './address.ts';
import {
  escapeSlack,
  fits,
  fitted,
  formatted,
  GREY,
  LIMITS,
  plain,
  type SlackBody,
  section,
  timeText,
} from './blocks.ts';

const ACTION = 'tocsin.';

const buttonsBlock = ({ token, buttons }: Annotation): ActionsBlock => ({
  type: 'actions',
  block_id: 'tocsin.buttons',
  elements: buttons.map(
    ({ name, label }): ButtonElement => ({
      type: 'button',
      action_id: `${ACTION}${name}`,
      text: plain(label),
      value: token,
      ...(name === 'acknowledge' ? { style: 'primary' as const } : {}),
    }),
  ),
});

/** Of an escaped title. */
const led = (title: string, lead: string | undefined): string =>
  lead === undefined ? title : aroundSign(title).join(`${escapeSlack(lead)} · `);

/** A title that is too long for a header is a section, as `titleBlock` has it. */
const ledTitle = (title: KnownBlock | undefined, lead: string | undefined): KnownBlock[] => {
  if (title?.type !== 'header' && title?.type !== 'section') return title === undefined ? [] : [title];
  if (title.text?.type !== 'plain_text') return [title];
  const text = { ...title.text, text: led(title.text.text, lead) };
  return [
    text.text.length <= LIMITS.header && title.type === 'header'
      ? { type: 'header', text }
      : { ...title, type: 'section', text },
  ];
};

/** Words stand in plain text, as names are in them; a time by the reader's clock cannot. */
const noteBlock = (note: Line): ContextBlock => ({
  type: 'context',
  block_id: 'tocsin.acknowledged',
  elements: note.map((piece) => (piece.at === undefined ? plain(piece.text.trim()) : formatted(timeText(piece)))),
});

/** A plain text has no blocks, and with a block it would not be shown. */
const put = (body: SlackBody, annotation: Annotation): SlackBody => {
  const { lead, note, buttons } = annotation;
  if (body.blocks === undefined) return body;
  const [title, ...others] = body.blocks;
  const blocks: KnownBlock[] = [
    ...ledTitle(title, lead),
    ...(note === undefined ? [] : [noteBlock(note)]),
    ...others,
    ...(buttons.length === 0 ? [] : [buttonsBlock(annotation)]),
  ];
  if (!fits(blocks, body.attachments)) return body;
  const { attachments } = body;
  const grey = lead === undefined ? undefined : attachments?.map((one) => ({ ...one, color: GREY }));
  return { ...body, text: led(body.text, lead), blocks, ...(grey && { attachments: grey }) };
};

/** The file stays where it is. */
const kept = ({ file: _file, ...body }: SlackBody): SlackBody => body;

/** Presses come by the bot's app; an incoming webhook has none that we know. */
export const slackButtons: Omit<Buttons<SlackBody>, 'listen'> = { areAt: (address) => !isHook(address), put, kept };

/** As much of a `block_actions` payload as we read; undefined for anything but a press of a button of ours. Source: docs.slack.dev */
export const readPress = (payload: unknown) => {
  const { type, api_app_id, user, channel, container, actions, response_url } = objectIn(payload);
  const [action] = Array.isArray(actions) ? actions : [];
  const { action_id, value } = objectIn(action);
  const button = BUTTONS.find((name) => action_id === `${ACTION}${name}`);
  if (type !== 'block_actions' || button === undefined) return undefined;
  const { id, name, username, team_id } = objectIn(user);
  const { message_ts, channel_id, thread_ts } = objectIn(container);
  return {
    appId: textIn(api_app_id),
    /** The workspace or organization of the person. */
    team: textIn(team_id),
    user: textIn(id),
    name: textIn(name) || textIn(username),
    channel: textIn(channel_id) || textIn(objectIn(channel).id),
    ts: textIn(message_ts),
    /** Of the message's thread, where it is a reply. */
    thread: typeof thread_ts === 'string' ? thread_ts : undefined,
    button,
    token: textIn(value),
    /** Answers the person, even one whom `chat.postEphemeral` does not reach. From outside; empty without one. */
    responseUrl: textIn(response_url),
  };
};

export type Pressed = NonNullable<ReturnType<typeof readPress>>;

/** Undefined where Slack does not say: to this token, or of a channel with too many people. Throws a `DeliveryError`. */
export type IsMember = (channel: string, user: string, signal: AbortSignal) => Promise<boolean | undefined>;

export interface Own {
  /** Of the app whose connection it is; undefined where Slack did not say. */
  appId: string | undefined;
  /** Of the workspace, and of the organization where it has one. */
  teams: readonly string[];
  isMember: IsMember;
}

const isAt = ({ channel, ts }: Pressed, { address }: Destination, handle: string | undefined): boolean => {
  // It was pressed before we had noted where it is.
  if (handle === undefined) return address === channel;
  const place = parsePlace(handle);
  return place?.channel === channel && place.ts === ts;
};

const STRANGER = 'Only members of the workspace of this app can press here. Nothing was changed.';
const NOT_IN_CHANNEL =
  'Only members of this channel can press here; who has just joined can in a minute. Nothing was changed.';

/**
 * In a channel that is shared with another organization, its people see the button as well; in a public one the whole
 * workspace does. Where Slack does not say who is in the channel, the workspace is what counts.
 */
export const toPress = (pressed: Pressed, { appId, teams, isMember }: Own): Press => ({
  name: pressed.button,
  token: pressed.token,
  by: pressed.name,
  userId: pressed.user,
  isAt: (...at) => isAt(pressed, ...at),
  refusal: async (signal) => {
    const isOurs = (appId === undefined || appId === pressed.appId) && pressed.user !== '';
    if (!isOurs || !teams.includes(pressed.team)) return STRANGER;
    return (await isMember(pressed.channel, pressed.user, signal)) === false ? NOT_IN_CHANNEL : undefined;
  },
});

const contentOf = (said: string): Record<string, unknown> => {
  const text = fitted(said, LIMITS.section);
  return { text: escapeSlack(text), blocks: [section(text)] };
};

/** `chat.postEphemeral`: only the person sees it. */
export const answerTo = ({ channel, user, thread }: Pressed, text: string): Record<string, unknown> => ({
  channel,
  user,
  ...contentOf(text),
  ...(thread === undefined ? {} : { thread_ts: thread }),
  parse: 'none',
  link_names: false,
});

/** The same for the URL of the press. Without the last field it would take the place of the alert. */
export const responseOf = (text: string): Record<string, unknown> => ({
  ...contentOf(text),
  response_type: 'ephemeral',
  replace_original: false,
});
