/**
 * What people read in a digest, before any markup: how many alerts, where, what, the worst first, and every one of them by
 * transaction hash. Strings are cleaned, not escaped. What detectors and notifications say may be long; everything else
 * is short and in one line.
 */
import { shorten } from '../text.ts';
import type { Detection } from './content.ts';

export interface Count {
  name: string;
  count: number;
}

export interface CountTable {
  /** `Protocols`, `Detectors`, `Contracts`. */
  title: string;
  /** The most first; may be long, see `topOf`. */
  counts: Count[];
}

/** One incident: the alerts of one transaction, or one alert of another sort. */
export interface DigestItem {
  severity: string;
  /** `CRITICAL: Vault A: flashLoan`; stands alone. */
  headline: string;
  /** Several as `Vault A + 2 more`. */
  protocol: string;
  /** Names of those that fired: at most twelve entries, of which the last may be `3 more`. */
  detectors: string[];
  detections: Detection[];
  /** The whole text of a stored notification; may be long and of several lines. */
  message?: string;
  /** In full; absent where the alert names no transaction. */
  hash?: string;
  /** The transaction at its explorer. */
  url?: string;
  /** `Base (8453)`; absent where there is no transaction. */
  chain?: string;
  /** `2026-11-20 10:07:31 UTC`: of the transaction, else when the service wrote it. */
  time: string;
  /** The service's ids of the inspections or of the notification. */
  ids: string;
}

export interface DigestContent {
  /** 8 hex digits; the same alerts have the same. */
  id: string;
  /** `title`, and the headline of the worst item. */
  headline: string;
  /** `120 alerts in 3 protocols: 118 critical, 2 notifications`, or `120 critical alerts in Vault A`. */
  title: string;
  /** Of the worst item. */
  severity: string;
  /** Alerts, not items: several alerts of one transaction are one item. */
  alerts: number;
  /** `2026-11-20 10:07:12 to 10:12:31 UTC` */
  span: string;
  /** Why these alerts come in one message. */
  why: string;
  /** Why the reader gets them in an unusual way or again; absent otherwise. */
  notice?: string;
  tables: CountTable[];
  /** Worst first: by severity, then more detectors, then older. */
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
