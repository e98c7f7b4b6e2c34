/** Reads a Slack message as a Slack client would show it, and refuses what Slack would refuse. */
import type { Arrived } from './http-receiver.ts';

interface TextObject {
  type: 'plain_text' | 'mrkdwn';
  text: string;
  verbatim?: boolean;
}

interface Element {
  type: string;
  text?: string | TextObject;
  url?: string;
  fallback?: string;
  elements?: Element[];
}

interface Block {
  type: string;
  text?: TextObject;
  fields?: TextObject[];
  elements?: unknown[];
  [field: string]: unknown;
}

interface Attachment {
  color?: string;
  blocks?: Block[];
}

/** A text of a message, and what in it can be clicked or calls somebody. */
interface Read {
  text: string;
  active: string[];
}

interface SlackMessage {
  text: string;
  blocks: Block[];
  attachments: Attachment[];
  mrkdwn: boolean;
  options: Record<string, unknown>;
}

/** Form fields of `chat.postMessage`, or the JSON of an incoming webhook. */
export const parseSlack = ({ headers, body }: Arrived): SlackMessage => {
  const form = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
  const fields: Record<string, unknown> = form ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body);
  const { text, blocks = [], attachments = [], mrkdwn = true, ...options } = fields;
  if (typeof text !== 'string' || text === '') throw new Error('no_text');
  return {
    text,
    blocks: typeof blocks === 'string' ? JSON.parse(blocks) : (blocks as Block[]),
    attachments: typeof attachments === 'string' ? JSON.parse(attachments) : (attachments as Attachment[]),
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

/** Nothing in a fence is formatting. */
const unstyle = (text: string): string =>
  text
    .split(/```\n?([\s\S]*?)\n?```/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(FORMATTED, '$1$3').replace(/^&gt; ?/gm, '')))
    .join('');

/** What a reader sees of escaped text, and what of it is clickable or calls somebody. */
const show = (raw: string, { formatted, linkified }: { formatted: boolean; linkified: boolean }): Read => {
  const active: string[] = [];
  const dated = raw.replaceAll(/<!date\^\d+\^[^<>|^]+\|([^<>|]+)>/g, '$1');
  const linked = dated.replaceAll(
    /<([^<>|]*)(?:\|([^<>]*))?>/g,
    (_whole, target: string, label: string | undefined) => {
      active.push(target);
      return label ?? target;
    },
  );
  if (/[<>]/.test(linked)) throw new Error(`a stray angle bracket in ${JSON.stringify(raw)}`);
  const text = unescapeSlack(formatted ? unstyle(linked) : linked);
  if (linkified) active.push(...(text.match(/https?:\/\/\S+|(?<!\S)[@#]\w+/g) ?? []));
  return { text, active };
};

const invalid = (problem: string): never => {
  throw new Error(`invalid_blocks: ${problem}`);
};

/** Fields beyond those that Slack documents are as wrong as too few. */
const onlyFields = (what: string, object: object, allowed: readonly string[]): void => {
  for (const field of Object.keys(object)) if (!allowed.includes(field)) invalid(`${what} with a field ${field}`);
};

const readText = (object: TextObject, limit: number, types: readonly string[] = ['plain_text', 'mrkdwn']) => {
  if (!types.includes(object.type)) invalid(`a text of type ${object.type}`);
  onlyFields(object.type, object, ['type', 'text', object.type === 'mrkdwn' ? 'verbatim' : 'emoji']);
  within(object.type, object.text, limit);
  const formatted = object.type === 'mrkdwn';
  return show(object.text, { formatted, linkified: formatted && object.verbatim !== true });
};

const readList = (what: string, list: unknown[] | undefined, limit: number): Read[] => {
  if (!Array.isArray(list) || list.length === 0 || list.length > 10) return invalid(`${list?.length} ${what}`);
  return list.map((object) => readText(object as TextObject, limit));
};

/** Nothing in it is markup. */
const readElement = ({ type, text, url, fallback }: Element): Read => {
  const shown = type === 'date' ? fallback : text;
  if (typeof shown !== 'string' || shown === '') return invalid(`${type} without text`);
  return { text: shown, active: type === 'link' && url !== undefined ? [url] : [] };
};

const readPart = ({ elements = [] }: Element): Read => {
  if (elements.length === 0) return invalid('an empty part of rich text');
  const all = elements.map(readElement);
  return { text: all.map(({ text }) => text).join(''), active: all.flatMap(({ active }) => active) };
};

const readButton = ({ type, text, url }: Element): Read => {
  if (type !== 'button' || typeof text !== 'object') return invalid(type);
  const { text: label, active } = readText(text, 75, ['plain_text']);
  return { text: label, active: [...active, ...(url === undefined ? [] : [url])] };
};

const readBlock = (block: Block): Read[] => {
  const { type, text, fields, elements } = block;
  switch (type) {
    case 'rich_text':
      onlyFields(type, block, ['type', 'elements']);
      return (elements as Element[]).map(readPart);
    case 'actions':
      onlyFields(type, block, ['type', 'elements']);
      return (elements as Element[]).map(readButton);
    case 'divider':
      onlyFields(type, block, ['type']);
      return [];
    case 'header':
      onlyFields(type, block, ['type', 'text']);
      return [text ? readText(text, 150, ['plain_text']) : invalid('a header without text')];
    case 'context':
      onlyFields(type, block, ['type', 'elements']);
      return readList('elements', elements, 3000);
    case 'section':
      onlyFields(type, block, ['type', 'text', 'fields']);
      if (!text && !fields) invalid('a section without text and fields');
      return [...(text ? [readText(text, 3000)] : []), ...(fields ? readList('fields', fields, 2000) : [])];
    default:
      return invalid(type);
  }
};

/** Of every text as it is written, and of every URL. Undocumented: see slackapi/bolt-js#2509. */
const sumOf = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + sumOf(one), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [name, one]) =>
      sum + (typeof one === 'string' ? (['text', 'url', 'fallback'].includes(name) ? one.length : 0) : sumOf(one)),
    0,
  );
};

/** Throws with Slack's word for it where the message breaks a limit. */
export const readSlack = (arrived: Arrived): Read => {
  const { text, blocks, attachments, mrkdwn } = parseSlack(arrived);
  const all = [...blocks, ...attachments.flatMap(({ blocks: more = [] }) => more)];
  if (text.length > 40_000) throw new Error('msg_too_long');
  if (all.length > 50) throw new Error('invalid_blocks: more than 50');
  if (sumOf(all) > 13_200) throw new Error('msg_blocks_too_long');
  const push = show(text, { formatted: mrkdwn && all.length === 0, linkified: false });
  const parts = [push, ...all.flatMap(readBlock)];
  return { text: parts.map((part) => part.text).join('\n'), active: parts.flatMap(({ active }) => active) };
};
