/** All that one rendering of the status page is made from. */
import type { StatusReport } from '../status.ts';
import type { PageDetails } from './details.ts';

export interface PageView {
  report: StatusReport;
  /** Absent where they cannot be had now. */
  details?: PageDetails;
  /** Only protocols and destinations with this in their names. */
  filter?: string;
  /** Redis gives no answer now: what was known last is shown. */
  outdated?: OutdatedView;
  viewer: Viewer;
  /** ISO 8601; of the report, unless it is outdated. */
  now: string;
}

export interface OutdatedView {
  /** When Redis fell silent, ISO 8601; absent where that is not known yet. */
  since?: string;
  /** Other checks of this daemon that fail, in sentences. */
  problems: { text: string; since?: string }[];
}

/** Who looks. */
export interface Viewer {
  /** `ops.token` is set, so that somebody may sign in. */
  canSignIn: boolean;
  /** Signed in: what each form carries. */
  csrf?: string;
  /** Signed in at a trusted proxy, as whom: text from outside. */
  user?: string;
  /** There is a page of the queues. */
  hasQueues?: boolean;
}

export const READER: Viewer = { canSignIn: false };
