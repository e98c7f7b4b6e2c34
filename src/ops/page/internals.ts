/** What is folded away at the end of the page. */
import { cleanLine, type Html, html } from '../../text.ts';
import type { PageView } from './details.ts';
import { bad, type Column, count, many, moment, name, nothing, quiet, type TableOptions, tableOf } from './text.ts';

interface Folded<Row> extends TableOptions {
  id: string;
  title: string;
  note: string;
  columns: readonly Column<Row>[];
}

const folded = <Row>(rows: readonly Row[], { id, title, note, columns, ...options }: Folded<Row>): Html =>
  html`<details id="${id}"><summary>${title} <small>${note}</small></summary>${tableOf(rows, columns, { empty: 'None.', ...options })}</details>`;

const unwatchedOf = ({ report: { unwatched } }: PageView): Html =>
  unwatched.length === 0
    ? nothing
    : folded(unwatched, {
        ...{ id: 'unwatched', title: 'Not watched', note: many(unwatched.length) },
        columns: [
          { head: 'Protocol', cell: (protocol) => name(protocol.name) },
          { head: 'Service', cell: ({ service }) => name(service) },
          { head: 'Why', cell: ({ reason }) => cleanLine(reason) },
        ],
        ...{ most: 100, more: 'tocsin status lists them' },
      });

const queuesOf = ({ report: { queues } }: PageView): Html =>
  folded(queues, {
    ...{ id: 'queues', title: 'Queues', note: 'in jobs: one may have many alerts' },
    columns: [
      { head: 'Queue', as: 'word', cell: (queue) => queue.name },
      { head: 'Waiting', as: 'number', cell: ({ waiting }) => count(waiting) },
      { head: 'Delayed', as: 'number', cell: ({ delayed }) => count(delayed) },
      { head: 'Sending', as: 'number', cell: ({ active }) => count(active) },
      { head: 'Failed', as: 'number', cell: ({ failed }) => (failed === 0 ? quiet('0') : bad(many(failed))) },
    ],
  });

const detailsOf = ({ details, now }: PageView): Html[] => {
  if (details === undefined) return [];
  const { audits, actions } = details;
  return [
    folded(audits, {
      ...{ id: 'audit', title: 'Audit', note: 'the service’s list compared with the ledger' },
      columns: [
        { head: 'Service', cell: ({ service }) => name(service) },
        { head: 'Compared up to', as: 'time', cell: ({ auditedTo }) => moment(auditedTo, now) },
        { head: 'Protocols not compared yet', as: 'number', cell: ({ never }) => count(never) },
      ],
    }),
    folded(actions, {
      ...{ id: 'actions', title: 'What operators did', note: many(actions.length) },
      columns: [
        { head: 'When', as: 'time', cell: ({ at }) => moment(at, now) },
        { head: 'What', as: 'wide', cell: ({ text }) => name(text) },
      ],
      ...{ empty: 'Nothing lately.', most: actions.length },
    }),
  ];
};

const configOf = ({ details }: PageView): Html =>
  details === undefined
    ? nothing
    : folded(details.config, {
        ...{ id: 'config', title: 'Configuration in force', note: 'secrets are hidden' },
        columns: [
          { head: 'Key', cell: ({ key }) => html`<code>${cleanLine(key)}</code>` },
          { head: 'Value', as: 'wide', cell: ({ value }) => name(value) },
        ],
        most: details.config.length,
      });

export const internalsOf = (view: PageView): Html =>
  html`<section class="folded" aria-label="More">${[...detailsOf(view), queuesOf(view), unwatchedOf(view), configOf(view)]}</section>`;
