/** What was forwarded lately: the latest alerts, and what a search by transaction finds. */
import { cleanLine, counted, type Html, html } from '../../text.ts';
import { clockText } from '../../time.ts';
import type { DeliveryOutcome, PageDetails, RecentAlert, RecentDelivery, TracedAlert } from './details.ts';
import { type Column, hash, many, moment, name, nothing, quiet, searchFor, tableOf, tookText } from './text.ts';

/** `inspection.critical` is `critical`; what is Tocsin's own says so. */
const typeText = (type: string): string => {
  const [head = '', ...rest] = cleanLine(type).split('.');
  if (head === 'inspection') return rest.join(' ') || head;
  if (head === 'notification') return 'notification';
  return head === 'tocsin' ? `Tocsin: ${rest.join(' ')}` : rest.length === 0 ? head : head;
};

const badge = (type: string): Html => {
  const kind = type === 'inspection.critical' ? 'bad' : type.startsWith('tocsin.') ? 'own' : 'plain';
  return html`<span class="badge ${kind}">${typeText(type)}</span>`;
};

const MARKS: Readonly<Record<DeliveryOutcome, string>> = { delivered: '✓', waiting: '…', muted: '–', dead: '✕' };

const stateText = ({ state, tookMs, error, isCovered }: RecentDelivery): string => {
  if (isCovered) return 'told by another alert';
  if (state === 'delivered') return tookMs === undefined ? 'delivered' : tookText(tookMs);
  return state === 'waiting' && error !== undefined ? 'waiting, tried' : state;
};

const chip = (one: RecentDelivery): Html => {
  const { to, state, at, error, isCovered = false } = one;
  const title = `${cleanLine(to)}: ${state} ${clockText(at)}${error === undefined ? '' : `; ${cleanLine(error)}`}`;
  return html`<li class="chip ${isCovered ? 'muted' : state}" title="${title}"><b aria-hidden="true">${isCovered ? '=' : MARKS[state]}</b> <bdi class="cut">${cleanLine(to)}</bdi> <span>${stateText(one)}</span></li>`;
};

/** Where all went well and there are many, a number says it. */
const countsText = (counts: RecentAlert['counts'], shown: readonly RecentDelivery[]): string[] => {
  const hidden = { ...counts };
  for (const { state } of shown) hidden[state] -= 1;
  return (['dead', 'waiting', 'delivered', 'muted'] as const)
    .filter((state) => hidden[state] > 0)
    .map((state) => `${many(hidden[state])} more ${state}`);
};

/** Who has acknowledged it, and what says the same. */
const aboutLine = ({ acknowledged, covers = 0 }: Pick<RecentAlert, 'acknowledged' | 'covers'>): Html => {
  const who = acknowledged === undefined ? [] : [name(acknowledged)];
  const same = counted(covers, 'stored notification says', 'stored notifications say');
  const parts = [...who, ...(covers === 0 ? [] : [html`${same} the same`])];
  return parts.length === 0
    ? nothing
    : html`<p class="quiet">${parts.map((part, index) => html`${index === 0 ? '' : ' · '}${part}`)}</p>`;
};

const destinationsCell = (alert: RecentAlert): Html => {
  const { deliveries, counts } = alert;
  if (deliveries.length > 0 && deliveries.every(({ isCovered }) => isCovered)) {
    return quiet('nowhere: another alert of this transaction tells it');
  }
  const more = countsText(counts, deliveries);
  if (deliveries.length === 0) return html`<span class="bad">no destination</span>`;
  const rest = more.length === 0 ? nothing : html`<li class="quiet">${more.join(', ')}</li>`;
  return html`<ul class="chips">${deliveries.map(chip)}${rest}</ul>${aboutLine(alert)}`;
};

const transactionCell = ({ txHash, explorer, id }: Pick<RecentAlert, 'txHash' | 'explorer' | 'id'>): Html =>
  html`${txHash === undefined ? nothing : hash(txHash, explorer)} <a class="trace" href="${searchFor(id)}">trace</a>`;

const COLUMNS = (now: string): Column<RecentAlert>[] => [
  { head: 'When', as: 'time', cell: ({ at }) => moment(at, now) },
  { head: 'Protocol', cell: ({ protocol }) => name(protocol) },
  { head: 'What', as: 'time', cell: ({ type }) => badge(type) },
  { head: 'Transaction', as: 'time', cell: transactionCell },
  { head: 'Went to', as: 'wide', cell: destinationsCell },
];

const ALERTS = { empty: 'Nothing has been forwarded yet.', unfolded: { rows: 5, id: 'alerts' } };

export const alertsOf = ({ alerts }: PageDetails, now: string): Html =>
  html`<div class="alerts">${tableOf(alerts, COLUMNS(now), { ...ALERTS, most: alerts.length })}</div>`;

const tracedDelivery = (one: TracedAlert['deliveries'][number]): Html => {
  const lines = one.history.map(
    ({ at, text }) => html`<li><time datetime="${at}">${clockText(at, 'milliseconds')}</time> ${cleanLine(text)}</li>`,
  );
  return html`<li class="traced"><ul class="chips">${chip(one)}</ul>
${lines.length === 0 ? html`<p class="quiet">not tried yet</p>` : html`<ol class="history">${lines}</ol>`}</li>`;
};

const tracedAlert = (one: TracedAlert): Html => {
  const { protocol, service, type, at, readAt, itemId, id, txHash, explorer, deliveries, more } = one;
  const when = (label: string, time: string): Html =>
    html`<div><dt>${label}</dt><dd><time datetime="${time}">${clockText(time, 'milliseconds')}</time></dd></div>`;
  return html`<article class="card">
<h2>${badge(type)} ${name(protocol)} <small>${name(service)}</small></h2>
<dl class="facts">${txHash === undefined ? nothing : html`<div><dt>Transaction</dt><dd>${hash(txHash, explorer)}</dd></div>`}
<div><dt>Item</dt><dd>${hash(itemId)}</dd></div><div><dt>Alert</dt><dd>${hash(id)}</dd></div>
${when('Written', at)}${when('Read', readAt)}</dl>
${aboutLine(one)}
<ul class="unmarked">${deliveries.map(tracedDelivery)}</ul>
${deliveries.length === 0 ? html`<p class="bad">It had no destination.</p>` : nothing}
${more > 0 ? html`<p class="quiet">and ${counted(more, 'more delivery', 'more deliveries')}: tocsin trace ${cleanLine(id)}</p>` : nothing}
</article>`;
};

/** What a search found. */
export const tracesOf = (wanted: string, found: readonly TracedAlert[]): Html => {
  const shown = cleanLine(wanted).slice(0, 100);
  if (found.length === 0) {
    return html`<section><h1>Nothing is known of ${name(shown)}</h1>
<p>It was never forwarded, or longer ago than the ledger keeps. A search takes a transaction's hash, an item's id or an
alert's id. <code>tocsin trace</code> also takes the id of a message.</p><p><a href="/">Back to the overview</a></p></section>`;
  }
  return html`<section><h1>${counted(found.length, 'alert')} for ${hash(shown)}</h1>
${found.map(tracedAlert)}<p><a href="/">Back to the overview</a></p></section>`;
};
