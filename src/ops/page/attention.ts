/** What waits for somebody: mutes that will end, destinations to approve, deliveries that are dead. */
import { shownLabel } from '../../alert.ts';
import { type Html, html } from '../../html.ts';
import { scopeText } from '../../mute.ts';
import { cleanLine, counted } from '../../text.ts';
import type { DeadDetails } from './details.ts';
import { button } from './forms.ts';
import { actionsFor, heading, namesOf } from './sections.ts';
import { MOST_ROWS, tableOf } from './table.ts';
import { bad, coming, count, hash, many, moment, name, nothing, quiet } from './text.ts';
import type { PageView } from './view.ts';

export const mutesOf = ({ report: { mutes }, now, viewer }: PageView): Html =>
  mutes.length === 0
    ? nothing
    : html`<section>${heading('Mutes', mutes.length)}
${tableOf(
  mutes,
  [
    { head: 'What', cell: (mute) => name(scopeText(mute)) },
    { head: 'Reason', cell: ({ reason }) => name(reason) },
    { head: 'Hides', as: 'number', cell: ({ hid }) => count(hid) },
    { head: 'Ends', as: 'time', cell: ({ until }) => coming(until, now) },
    { head: 'Mute', as: 'word', cell: ({ id }) => html`${cleanLine(id)} ${button(viewer, 'mute-end', 'End', { id })}` },
  ],
  { nothing: '' },
)}</section>`;

export const approvalsOf = ({ details, now, viewer }: PageView): Html => {
  const { approvals = [], isGateOn = false } = details ?? {};
  if (approvals.length === 0 || (!isGateOn && approvals.every(({ state }) => state === 'new'))) return nothing;
  return html`<section>${heading('Waiting for approval', approvals.length)}
${tableOf(
  approvals,
  [
    { head: 'Destination', cell: (one) => name(shownLabel(one)) },
    { head: 'Kind', as: 'word', cell: ({ kind }) => cleanLine(kind) },
    { head: 'State', as: 'word', cell: ({ state }) => (state === 'held' ? bad(state) : state) },
    { head: 'Held', as: 'number', cell: ({ waiting }) => (waiting === 0 ? quiet('0') : bad(many(waiting))) },
    { head: 'Since', as: 'time', cell: ({ since }) => moment(since, now, '') },
    { head: 'Protocols', cell: ({ protocols }) => namesOf(protocols) },
    {
      head: 'To do',
      as: 'wide',
      cell: ({ id, state }) =>
        viewer.csrf === undefined
          ? html`<code>tocsin destinations approve ${cleanLine(id)}</code>`
          : html`${button(viewer, 'approve', 'Approve', { id })}${state === 'revoked' ? nothing : button(viewer, 'revoke', 'Revoke', { id })}`,
    },
  ],
  { nothing: '' },
)}</section>`;
};

export const deadOf = ({ report, details, now, viewer }: PageView): Html => {
  const { dead = [] } = details ?? {};
  if (dead.length === 0) return nothing;
  const shown = dead.slice(0, MOST_ROWS.page);
  return html`<section>${heading('Dead deliveries', report.dead)}
<p class="quiet">They failed for good and are kept until somebody sends them again or drops them.</p>
${tableOf(
  shown,
  [
    { head: 'Died', as: 'time', cell: ({ at }) => moment(at, now) },
    { head: 'Protocol', cell: ({ protocol }) => name(protocol) },
    {
      head: 'Transaction',
      as: 'word',
      cell: ({ txHash, explorer }) => (txHash === undefined ? '' : hash(txHash, explorer)),
    },
    { head: 'To', cell: ({ to }) => name(to) },
    {
      head: 'Because',
      as: 'wide',
      cell: ({ reason, message, attempts }) =>
        html`${bad(message === '' ? reason : message)} ${quiet(`(${counted(attempts, 'try', 'tries')})`)}`,
    },
    ...actionsFor<DeadDetails>(
      viewer,
      ({ id }) => html`${button(viewer, 'retry', 'Retry', { id })}${button(viewer, 'drop', 'Drop', { id })}`,
    ),
  ],
  { nothing: '' },
)}
${report.dead > shown.length ? html`<p class="quiet more">and ${many(report.dead - shown.length)} more: tocsin dead list</p>` : nothing}
${viewer.csrf === undefined ? nothing : html`<p>${button(viewer, 'retry', 'Retry all', { id: 'all' })}</p>`}</section>`;
};
