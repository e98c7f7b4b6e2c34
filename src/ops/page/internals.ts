/** What is folded away at the end of the page. */
import { cleanLine, type Html, html } from '../../text.ts';
import type { PageView } from './details.ts';
import { bad, count, many, moment, name, nothing, quiet, tableOf } from './text.ts';

const folded = (id: string, title: string, note: string, content: Html): Html =>
  html`<details id="${id}"><summary>${title} <small>${note}</small></summary>${content}</details>`;

const unwatchedOf = ({ report: { unwatched } }: PageView): Html =>
  unwatched.length === 0
    ? nothing
    : folded(
        'unwatched',
        'Not watched',
        many(unwatched.length),
        tableOf(
          unwatched,
          [
            { head: 'Protocol', cell: (protocol) => name(protocol.name) },
            { head: 'Service', cell: ({ service }) => name(service) },
            { head: 'Why', cell: ({ reason }) => cleanLine(reason) },
          ],
          { nothing: '', most: 100, more: 'tocsin status lists them' },
        ),
      );

const queuesOf = ({ report: { queues } }: PageView): Html =>
  folded(
    'queues',
    'Queues',
    '',
    tableOf(
      queues,
      [
        { head: 'Queue', as: 'word', cell: (queue) => queue.name },
        { head: 'Waiting', as: 'number', cell: ({ waiting }) => count(waiting) },
        { head: 'Delayed', as: 'number', cell: ({ delayed }) => count(delayed) },
        { head: 'Sending', as: 'number', cell: ({ active }) => count(active) },
        { head: 'Failed', as: 'number', cell: ({ failed }) => (failed === 0 ? quiet('0') : bad(many(failed))) },
      ],
      { nothing: 'None.' },
    ),
  );

const auditsOf = ({ details, now }: PageView): Html =>
  details === undefined
    ? nothing
    : folded(
        'audit',
        'Audit',
        'the service’s list compared with the ledger',
        tableOf(
          details.audits,
          [
            { head: 'Service', cell: ({ service }) => name(service) },
            { head: 'Compared up to', as: 'time', cell: ({ auditedTo }) => moment(auditedTo, now) },
            { head: 'Protocols not compared yet', as: 'number', cell: ({ never }) => count(never) },
          ],
          { nothing: 'None.' },
        ),
      );

const actionsOf = ({ details, now }: PageView): Html =>
  details === undefined
    ? nothing
    : folded(
        'actions',
        'What operators did',
        many(details.actions.length),
        tableOf(
          details.actions,
          [
            { head: 'When', as: 'time', cell: ({ at }) => moment(at, now) },
            { head: 'What', as: 'wide', cell: ({ text }) => name(text) },
          ],
          { nothing: 'Nothing lately.', most: details.actions.length },
        ),
      );

const configOf = ({ details }: PageView): Html =>
  details === undefined
    ? nothing
    : folded(
        'config',
        'Configuration in force',
        'secrets are hidden',
        tableOf(
          details.config,
          [
            { head: 'Key', cell: ({ key }) => html`<code>${cleanLine(key)}</code>` },
            { head: 'Value', as: 'wide', cell: ({ value }) => name(value) },
          ],
          { nothing: 'None.', most: details.config.length },
        ),
      );

export const internalsOf = (view: PageView): Html =>
  html`<section class="folded" aria-label="More">${[auditsOf, actionsOf, queuesOf, unwatchedOf, configOf].map((part) => part(view))}</section>`;
