/** Where a Slack message goes (a channel, or an incoming webhook by its URL), and where one is that was sent. */
import { webAddress } from '../address.ts';

/** An incoming webhook has neither threads nor files, and a key of its own. */
export const isHook = (address: string): boolean => webAddress(address) !== undefined;

/**
 * A channel's id (public, private, direct), or its name with or without `#`; but not a token pasted by mistake.
 * Source: docs.slack.dev, "Conversations API".
 */
const CHANNEL_ID = /^[CGD][A-Z0-9]{7,20}$/;
const CHANNEL_NAME = /^#?((?!xox[a-z]-)[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}_-]{1,80})$/u;

/** It says itself what it is called. */
export const isChannelName = (address: string): boolean => address.startsWith('#');

/** `C024BE91L` or `#name`; undefined for what is neither. */
export const parseChannel = (text: string): string | undefined => {
  const contact = text.trim();
  if (CHANNEL_ID.test(contact)) return contact;
  const name = CHANNEL_NAME.exec(contact)?.[1];
  return name === undefined ? undefined : `#${name}`;
};

/** Where a message is; its handle is written so. */
export interface Place {
  /** The channel's id, even if the destination is its name. */
  channel: string;
  ts: string;
  /** `ts` of the thread's first message: its own unless it is a reply. Slack takes no reply to a reply. */
  thread: string;
}

const HANDLE = /^([A-Z0-9]+)\/(\d+\.\d+)(?:\/(\d+\.\d+))?$/;

/** `CHANNEL/TS`, of a reply `CHANNEL/TS/THREAD`. */
export const formatPlace = ({ channel, ts, thread }: Place): string =>
  [channel, ts, ...(thread === ts ? [] : [thread])].join('/');

/** Undefined for anything but a handle of ours. */
export const parsePlace = (handle: string): Place | undefined => {
  const [, channel, ts, thread = ts] = HANDLE.exec(handle) ?? [];
  return channel === undefined || ts === undefined || thread === undefined ? undefined : { channel, ts, thread };
};
