/** Where a Slack message goes: a channel, or an incoming webhook by its URL. */
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
