/** The status page: plain HTML that needs no script, reads on a phone and in the dark, and refreshes itself. */
import { type Html, html } from '../html.ts';
import { cleanLine } from '../text.ts';
import { ago, clockText } from '../time.ts';
import { daemonsOf, destinationsOf, mutesOf, protocolsOf, queuesOf, servicesOf, unwatchedOf } from './page-sections.ts';
import { STYLE } from './page-style.ts';
import { bad } from './page-text.ts';
import type { StatusReport } from './status.ts';
import { totalsOf } from './wording.ts';

const REFRESH_SECONDS = 10;
/** More of them, made again every ten seconds, help nobody; the `status` command shows them all. */
const MOST_PROBLEMS = 30;

const problemsOf = ({ problems }: StatusReport): Html => {
  if (problems.length === 0) return html``;
  const more = problems.length - MOST_PROBLEMS;
  return html`<section class="problems"><h2>Needs a look</h2><ul>${problems
    .slice(0, MOST_PROBLEMS)
    .map(
      (problem) => html`<li>${cleanLine(problem)}</li>`,
    )}</ul>${more > 0 ? html`<p>and ${more} more</p>` : html``}</section>`;
};

const summaryOf = (report: StatusReport): Html => {
  const { services, protocols, destinations, dead } = report;
  const { down, late, failing, waiting, delayed, held } = totalsOf(report);
  const note = (wrong: number, word: string): Html =>
    wrong === 0 ? html`` : html` <span class="note bad">${wrong} ${word}</span>`;
  const entries: [string, Html][] = [
    ['Services', html`${services.length}${note(down, 'down')}`],
    ['Protocols', html`${protocols.length}${note(late, 'late')}`],
    ['Destinations', html`${destinations.length}${note(failing, 'failing')}`],
    ['Waiting', html`${waiting}`],
    ['Delayed', html`${delayed}`],
    ...(held === 0 ? [] : [['Held', bad(String(held))] satisfies [string, Html]]),
    ['Dead and kept', dead === 0 ? html`0` : bad(String(dead))],
  ];
  return html`<dl>${entries.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
};

const stateOf = (report: StatusReport): Html => {
  const { problems } = report;
  if (problems.length > 0)
    return bad(problems.length === 1 ? 'one thing needs a look' : `${problems.length} things need a look`);
  // A daemon that watches no protocol has no problems, but is not well.
  if (report.protocols.length === 0) return bad('nothing is watched');
  const { down, late, failing } = totalsOf(report);
  return down + late + failing + report.dead === 0
    ? html`<span class="good">all is well</span>`
    : html`<span class="bad">needs a look</span>`;
};

const headOf = (report: StatusReport): Html => {
  const { version, startedAt, now } = report;
  const started = startedAt === undefined ? '' : `, started ${ago(startedAt, now)}`;
  return html`<h1>Tocsin: ${stateOf(report)}</h1>
<p class="quiet">Version ${version}${started}. As of ${clockText(now)}, again every ${REFRESH_SECONDS} s.</p>`;
};

/** The whole page. Everything in the report is escaped. */
export const renderPage = (report: StatusReport): string => {
  const { problems, protocols, destinations } = report;
  const title = problems.length === 0 ? 'Tocsin' : `(${problems.length}) Tocsin`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta http-equiv="refresh" content="${REFRESH_SECONDS}">
<style>${{ html: STYLE }}</style></head><body>
${headOf(report)}
${problemsOf(report)}
${summaryOf(report)}
<h2>Services</h2>
${servicesOf(report)}
${daemonsOf(report)}
<h2>Destinations <small>${destinations.length}</small></h2>
${destinationsOf(report)}
${mutesOf(report)}
<h2>Queues</h2>
${queuesOf(report)}
<h2>Protocols <small>${protocols.length}</small></h2>
${protocolsOf(report)}
${unwatchedOf(report)}
</body></html>
`.html;
};
