/** Answers whoever asks for the page: the overview, or what a search finds. One making is shared by all who look. */
import { iso } from '../../time.ts';
import { oneAtATime, withinTime } from '../asking.ts';
import type { Health } from '../health.ts';
import type { StatusReport } from '../status.ts';
import type { PageDetails, TracedAlert } from './details.ts';
import { renderOutage, renderPage, renderTraces } from './page.ts';
import type { OutdatedView, PageView, Viewer } from './view.ts';

export interface PageSource {
  details(): Promise<PageDetails>;
  /** By a transaction's hash, an item's id or an alert's. */
  trace(name: string): Promise<TracedAlert[]>;
}

export interface OverviewDependencies {
  status(): Promise<StatusReport>;
  /** Absent: the page shows the status alone. */
  source?: PageSource | undefined;
  health: Pick<Health, 'ready'>;
  /** Called with what kept the page from being made whole. */
  onProblem(error: unknown): void;
  now(): number;
}

/** What was made this long ago is shown once more: it costs dozens of questions to Redis. */
const FRESH_MS = 2000;
/** Redis is asked for both; while it is away commands wait, and whoever looks does not wait so long. */
const TIMEOUT_MS = 3000;
/** Searches at the same time; others are told to try again. */
const MOST_SEARCHES = 4;

const LONGEST_QUERY = 200;

/** What is no part of a name, but the name of one thing: a hash, also as messages shorten it, or an id. */
const IDENTITY = /^(?:0x[0-9a-f]{4,64}(?:(?:…|\.{2,3})[0-9a-f]{0,62})?|[0-9a-f]{24,64}|msg_[0-9a-f]+)$/i;

type Made = Pick<PageView, 'report' | 'details'>;

export class BusyError extends Error {}

const createSearch = (source: PageSource | undefined) => {
  let running = 0;
  return async (name: string): Promise<TracedAlert[]> => {
    if (source === undefined) return [];
    if (running >= MOST_SEARCHES) throw new BusyError('too many searches at once');
    running += 1;
    try {
      return await withinTime(source.trace(name), TIMEOUT_MS);
    } finally {
      running -= 1;
    }
  };
};

const outdatedBy = (health: Pick<Health, 'ready'>): OutdatedView => {
  const failing = health.ready().checks.filter(({ status }) => status === 'failing');
  const redis = failing.find(({ name }) => name === 'redis');
  const others = failing.filter(({ name }) => name !== 'redis');
  return {
    ...(redis === undefined ? {} : { since: redis.since }),
    problems: others.map(({ name, detail = 'no answer', since }) => ({ text: `${name}: ${detail}`, since })),
  };
};

export const createOverview = (dependencies: OverviewDependencies) => {
  const { status, source, health, onProblem, now } = dependencies;
  const search = createSearch(source);
  const askDetails = oneAtATime(async () => source?.details());
  let last: { made: Made; at: number; isFresh: boolean } | undefined;

  const detailsOrNone = (): Promise<PageDetails | undefined> =>
    withinTime(askDetails(), TIMEOUT_MS).catch((error: unknown) => {
      onProblem(error);
      return undefined;
    });

  const make = oneAtATime(async (): Promise<Made> => {
    const [report, details] = await Promise.all([withinTime(status(), TIMEOUT_MS), detailsOrNone()]);
    const made: Made = { report, ...(details === undefined ? {} : { details }) };
    last = { made, at: now(), isFresh: true };
    return made;
  });

  const overview = async (viewer: Viewer, filter: string | undefined): Promise<{ code: number; body: string }> => {
    const shown = { viewer, ...(filter === undefined ? {} : { filter }) };
    if (last?.isFresh && now() - last.at < FRESH_MS && now() >= last.at) {
      return { code: 200, body: renderPage({ ...last.made, ...shown, now: iso(now()) }) };
    }
    try {
      const made = await make();
      return { code: 200, body: renderPage({ ...made, ...shown, now: made.report.now }) };
    } catch (error) {
      onProblem(error);
      const outdated = outdatedBy(health);
      const at = iso(now());
      const body =
        last === undefined
          ? renderOutage(outdated, viewer, at)
          : renderPage({ ...last.made, ...shown, outdated, now: at });
      return { code: 503, body };
    }
  };

  const show = async (query: URLSearchParams, viewer: Viewer): Promise<{ code: number; body: string }> => {
    const text = (query.get('tx') ?? query.get('q') ?? '').trim().slice(0, LONGEST_QUERY);
    if (text !== '' && (query.has('tx') || IDENTITY.test(text))) {
      return { code: 200, body: renderTraces(text, await search(text), viewer) };
    }
    return overview(viewer, text === '' ? undefined : text);
  };

  return {
    show,
    /** Somebody changed something: what was made before is not shown again. */
    forget: (): void => {
      if (last) last.isFresh = false;
    },
  };
};
