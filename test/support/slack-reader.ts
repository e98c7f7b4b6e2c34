/** Reads a Slack message as a Slack client would show it, and refuses what Slack would refuse. */
import type { Arrived } from './http-receiver.ts';

interface TextObject {
  type: 'plain_text' | 'mrkdwn';
  text: string;
  verbatim?: boolean;
}

interface Block {
  type: string;
  text?: TextObject;
  fields?: TextObject[];
  elements?: TextObject[];
}

interface SlackMessage {
  text: string;
  blocks: Block[];
  mrkdwn: boolean;
  options: Record<string, unknown>;
}

/** Form fields of `chat.postMessage`, or the JSON of an incoming webhook. */
export const parseSlack = ({ headers, body }: Arrived): SlackMessage => {
  const form = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
  const fields: Record<string, unknown> = form ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body);
  const { text, blocks = [], mrkdwn = true, ...options } = fields;
  if (typeof text !== 'string' || text === '') throw new Error('no_text');
  return {
    text,
    blocks: typeof blocks === 'string' ? JSON.parse(blocks) : (blocks as Block[]),
    mrkdwn: String(mrkdwn) === 'true',
    options,
  };
};

const unescapeSlack = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

const within = (what: string, text: string, limit: number): void => {
  if (text.length === 0 || text.length > limit) throw new Error(`invalid_blocks: ${what} of ${text.length} characters`);
};

const FORMATTED = /(^|[\s(])([*_~`])(?=\S)([^\n]*?\S)\2(?=$|[\s).,:;!?])/gm;

/** What a reader sees of escaped text, and what of it is clickable or calls somebody. */
const show = (raw: string, { formatted, linkified }: { formatted: boolean; linkified: boolean }) => {
  const active: string[] = [];
  const linked = raw.replaceAll(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_whole, target: string, label: string | undefined) => {
    active.push(target);
    return label ?? target;
  });
  if (/[<>]/.test(linked)) throw new Error(`a stray angle bracket in ${JSON.stringify(raw)}`);
  const styled = formatted ? linked.replace(FORMATTED, '$1$3').replace(/^&gt; ?/gm, '') : linked;
  const text = unescapeSlack(styled);
  if (linkified) active.push(...(text.match(/https?:\/\/\S+|(?<!\S)[@#]\w+/g) ?? []));
  return { text, active };
};

const readText = (object: TextObject, limit: number) => {
  within(object.type, object.text, limit);
  const formatted = object.type === 'mrkdwn';
  return show(object.text, { formatted, linkified: formatted && object.verbatim !== true });
};

const readBlock = (block: Block) => {
  const { type, text, fields = [], elements = [] } = block;
  if (!['header', 'section', 'context'].includes(type)) throw new Error(`invalid_blocks: ${type}`);
  if (type === 'header' && text?.type !== 'plain_text') throw new Error('invalid_blocks: header');
  if (fields.length > 10 || elements.length > 10) throw new Error('invalid_blocks: too many fields');
  return [
    ...(text ? [readText(text, type === 'header' ? 150 : 3000)] : []),
    ...fields.map((field) => readText(field, 2000)),
    ...elements.map((element) => readText(element, 2000)),
  ];
};

/** Throws with Slack's word for it where the message breaks a limit. */
export const readSlack = (arrived: Arrived): { text: string; active: string[] } => {
  const { text, blocks, mrkdwn } = parseSlack(arrived);
  if (text.length > 40_000) throw new Error('msg_too_long');
  if (blocks.length > 50) throw new Error('invalid_blocks: more than 50');
  if (JSON.stringify(blocks).length > 40_000) throw new Error('msg_blocks_too_long');
  const push = show(text, { formatted: mrkdwn && blocks.length === 0, linkified: false });
  const shown = blocks.flatMap(readBlock);
  const all = [push, ...shown];
  return { text: all.map((part) => part.text).join('\n'), active: all.flatMap(({ active }) => active) };
};
