/** What needs somebody or a look, the worst first, each with what to do and its button. */
import { type Condition, nextStepOf } from '../../condition.ts';
import { type Html, html } from '../../text.ts';
import { ageText } from '../../time.ts';
import type { TroubleStatus } from '../status.ts';
import type { OutdatedView, PageView, Viewer } from './details.ts';
import { button, many, nothing, sentence } from './text.ts';

interface Trouble {
  text: string;
  /** ISO 8601; absent where nobody knows. */
  since?: string | undefined;
  todo?: string;
  isUrgent: boolean;
  /** What an action of the page is about. */
  about?: Pick<TroubleStatus, 'name' | 'of' | 'id'>;
}

const REDIS_AWAY: Trouble = {
  text: 'Redis does not answer',
  todo: `${nextStepOf({ name: 'redis' })}.`,
  isUrgent: true,
};

export const troublesOfOutage = ({ problems, since }: OutdatedView): Trouble[] => [
  { ...REDIS_AWAY, since },
  ...problems.map((one): Trouble => ({ ...one, isUrgent: true })),
];

/** What it takes to judge. */
export type Judged = Pick<PageView, 'report' | 'outdated'>;

const withWhy = ({ what, why }: Pick<Condition, 'what' | 'why'>): string =>
  why === undefined ? what : `${what}: ${why}`;

export const troublesOf = ({ report, outdated }: Judged): Trouble[] => {
  if (outdated !== undefined) return troublesOfOutage(outdated);
  const asShown =
    (isUrgent: boolean) =>
    (one: TroubleStatus): Trouble => {
      const { since, todo } = one;
      return { text: withWhy(one), since, todo: `${todo}.`, isUrgent, about: one };
    };
  return [...report.troubles.map(asShown(true)), ...report.remarks.map(asShown(false))];
};

/** Where the page can do something about it. */
const buttonsOf = (viewer: Viewer, { name, of, id }: NonNullable<Trouble['about']>): Html => {
  if (id !== undefined) return button(viewer, 'known', 'Mark as known', { id });
  if (name === 'dead') return button(viewer, 'retry', 'Retry all', { id: 'all' });
  if (name === 'destination') return button(viewer, 'test', 'Send a test', { id: of });
  return name === 'held' && of !== '' ? button(viewer, 'approve', 'Approve', { id: of }) : nothing;
};

interface Seen {
  viewer: Viewer;
  now: string;
}

/** `next`: the one after it; where the same is to be done about two troubles, it is said once. */
const troubleOf = (
  { text, since, todo, isUrgent, about }: Trouble,
  next: Trouble | undefined,
  { viewer, now }: Seen,
): Html => {
  const age =
    since === undefined
      ? nothing
      : html` <span class="age">for <time datetime="${since}" title="${since}">${ageText(Math.max(0, Date.parse(now) - Date.parse(since)))}</time></span>`;
  return html`<li class="${isUrgent ? 'urgent' : 'later'}"><p>${sentence(text)}${age}</p>${todo === undefined || (isUrgent && todo === next?.todo) ? nothing : html`<p class="todo">To do: ${sentence(todo)}</p>`}${about === undefined ? nothing : buttonsOf(viewer, about)}</li>`;
};

/** The others are folded away: what follows them must not be far down. More than `most` help nobody; the `status` command shows all. */
const SHOWN = { unfolded: 5, most: 30 };

export const troubleList = (troubles: readonly Trouble[], seen: Seen): Html => {
  if (troubles.length === 0) return nothing;
  const listOf = (some: readonly Trouble[]): Html =>
    html`<ol class="troubles">${some.map((one, index) => troubleOf(one, some[index + 1], seen))}</ol>`;
  const [first, others] = [troubles.slice(0, SHOWN.unfolded), troubles.slice(SHOWN.unfolded)];
  if (others.length === 0) return listOf(first);
  const more = troubles.length - SHOWN.most;
  const last = more > 0 ? html`<p>and ${many(more)} more: tocsin status</p>` : nothing;
  return html`${listOf(first)}<details id="troubles"><summary>${many(others.length)} more</summary>${listOf(others.slice(0, SHOWN.most - SHOWN.unfolded))}${last}</details>`;
};
