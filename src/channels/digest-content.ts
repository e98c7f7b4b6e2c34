/**
 * What people read in a digest, before any markup. Every kind has its parts in this order: the title, which says how many
 * alerts and where; the worst, with what happened; the notice; the counts; the span and why they come in one message; the
 * others. All are named by transaction hash, in the message or its file. Strings are cleaned, not escaped. What detectors and notifications say may be long; everything else
 * is short and in one line.
 */
import { shorten } from '../text.ts';
import type { Detection, Line } from './content/content.ts';
import type { Tone } from './content/severity.ts';

export interface Count {
  name: string;
  count: number;
  /** An origin at its explorer. */
  url?: string;
}

export interface CountTable {
  /** `Protocols`, `Detectors`, `Contracts`, `Origins`. */
  title: string;
  /** The most first; may be long, see `topOf`. */
  counts: Count[];
}

/** One incident: the alerts of one transaction, or one alert of another sort. */
export interface DigestItem {
  severity: string;
  tone: Tone;
  sign: string;
  /** `🔴 CRITICAL · Vault A · Pool B` */
  title: string;
  /** What happened, in one line; from outside. */
  happened: string;
  /** `title: happened`; stands alone. */
  headline: string;
  /** Several as `Vault A + 2 more`. */
  protocol: string;
  /** Why it ranks where it does, in our words: `privileged call`, `origin is an admin`, `drop of 90 %`. */
  reasons: string[];
  /** Of the reasons, those that a message says: not what all items have, nor what stands in the words above. */
  remarks: string[];
  /** Names of those that fired: at most twelve entries, of which the last may be `3 more`. */
  detectors: string[];
  detections: Detection[];
  /** The whole text of a stored notification; may be long and of several lines. */
  message?: string;
  /** In full; absent where the alert names no transaction. */
  hash?: string;
  /** `0x5033…5ccb` */
  shortHash?: string;
  /** The transaction at its explorer. */
  url?: string;
  /** `Base (8453)`; absent where there is no transaction. */
  chain?: string;
  /** `Base`, as far as it has a name. */
  chainName?: string;
  /** `2026-11-20 10:07:31 UTC`: of the transaction, else when the service wrote it. */
  time: string;
  /** The same in epoch milliseconds; absent where it cannot be read. */
  at?: number;
  /** The service's ids of the inspections or of the notification. */
  ids: string;
}

export interface DigestContent {
  /** 8 hex digits; the same alerts have the same. */
  id: string;
  /** `title`, and the headline of the worst item. */
  headline: string;
  /** `🔴 120 alerts in 3 protocols: 118 critical, 2 notifications`, or `🔴 120 critical alerts in Vault A`. */
  title: string;
  /** Of the worst item. */
  severity: string;
  tone: Tone;
  sign: string;
  /** Alerts, not items: several alerts of one transaction are one item. */
  alerts: number;
  /** `2026-11-20 10:07:12 to 10:12:31 UTC` */
  span: string;
  /** The same as pieces, for a kind that knows its reader's clock. */
  period: Line;
  /** Why these alerts come in one message; in a storm, which message it is and how many alerts there were so far. */
  why: string;
  /** Why the reader gets them in an unusual way or again; absent otherwise. */
  notice?: string;
  tables: CountTable[];
  /** Worst first: by severity, then by what happened, see `digest-rank.ts`; then older. */
  items: DigestItem[];
  /** The command that lists them all, for a message that has no room to. */
  command: string;
}

export const HASH_LIMIT = 200;

/** The first rows of a table, and how many more it has. */
export const topOf = ({ counts }: CountTable, limit = 10): { rows: Count[]; more: number } => ({
  rows: counts.slice(0, limit),
  more: Math.max(0, counts.length - limit),
});

/** What identifies an item: its transaction's hash, else the service's ids. */
export const nameOf = ({ hash, ids }: DigestItem): string => hash ?? shorten(ids, HASH_LIMIT);

/** `Flash loan: A flash loan of 4 tokens`, or the name alone. */
export const detectionText = ({ name, message }: Pick<Detection, 'name' | 'message'>): string =>
  message === '' ? name : `${name}: ${message}`;
