/** The status page: plain HTML that needs no script, reads on a phone and in the dark, and refreshes itself. */
import { createHash } from 'node:crypto';
import type { StatusReport } from './status.ts';

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --quiet: color-mix(in srgb, currentColor 62%, transparent); --bad: #c62828; --good: #2e7d32; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --good: #81c784; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.3rem; margin: 0 0 .2rem; } h2 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
p { margin: .2rem 0; } .quiet { color: var(--quiet); } .bad { color: var(--bad); } .good { color: var(--good); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--quiet); white-space: nowrap; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td.wide { min-width: 12rem; overflow-wrap: anywhere; } ul { padding-left: 1.2rem; margin: .2rem 0; }
`;

/** Nothing but our own style is allowed on the page. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

const REFRESH_SECONDS = 10;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

interface Cell {
  text: string;
  /** CSS classes of the cell. */
  as?: 'n' | 'bad' | 'good' | 'quiet' | 'wide';
}

const cell = (text: string | number, as?: Cell['as']): Cell => ({
  text: String(text),
  ...(as === undefined ? {} : { as }),
});

const table = (heads: readonly Cell[], rows: readonly (readonly Cell[])[]): string => {
  const row = (cells: readonly Cell[], tag: 'th' | 'td') =>
    `<tr>${cells.map(({ text, as }) => `<${tag}${as ? ` class="${as}"` : ''}>${escape(text)}</${tag}>`).join('')}</tr>`;
  return `<div class="scroll"><table>${row(heads, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table></div>`;
};

/** `12 s`, `4 min`, `3 h`, `2 d`. */
export const ageText = (seconds: number): string => {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
};

const ago = (at: string | undefined, now: string): string =>
  at === undefined ? 'never' : `${ageText(Math.max(0, (Date.parse(now) - Date.parse(at)) / 1000))} ago`;

const problemsHtml = ({ problems }: StatusReport): string =>
  problems.length === 0
    ? '<p class="good">Nothing needs anybody.</p>'
    : `<h2>Needs somebody</h2><ul>${problems.map((problem) => `<li class="bad">${escape(problem)}</li>`).join('')}</ul>`;

const destinationsHtml = ({ destinations, now }: StatusReport): string =>
  table(
    [
      cell('Destination'),
      cell('Kind'),
      cell('Delivered', 'n'),
      cell('Dead', 'n'),
      cell('Last success'),
      cell('Last error'),
    ],
    destinations.map(({ label, kind, delivered, dead, lastSuccess, lastError }) => [
      cell(label, 'wide'),
      cell(kind),
      cell(delivered, 'n'),
      cell(dead, 'n'),
      cell(ago(lastSuccess, now)),
      cell(lastError ?? '', lastError === undefined ? undefined : 'bad'),
    ]),
  );

const protocolsHtml = ({ protocols, now }: StatusReport): string =>
  table(
    [cell('Protocol'), cell('Service'), cell('Channels'), cell('Last read'), cell('Read up to')],
    protocols.map(({ name, service, channels, sources }) => [
      cell(name, 'wide'),
      cell(service),
      cell(channels.join(', ') || 'none', channels.length === 0 ? 'bad' : undefined),
      cell(sources.map(({ source, lastPoll }) => `${source} ${ago(lastPoll, now)}`).join('; ')),
      cell(sources.map(({ cursor }) => cursor?.slice(0, 19).replace('T', ' ') ?? 'not yet').join('; '), 'quiet'),
    ]),
  );

const queuesHtml = ({ queues }: StatusReport): string =>
  table(
    [cell('Queue'), cell('Waiting', 'n'), cell('Delayed', 'n'), cell('Sending', 'n'), cell('Failed', 'n')],
    queues.map(({ name, waiting, delayed, active, failed }) => [
      cell(name),
      ...[waiting, delayed, active, failed].map((count) => cell(count, 'n')),
    ]),
  );

const servicesHtml = ({ services }: StatusReport): string =>
  services
    .map(({ name, up, lastError }) =>
      up
        ? `<p>Service ${escape(name)}: <span class="good">answers</span></p>`
        : `<p>Service ${escape(name)}: <span class="bad">${escape(lastError ?? 'does not answer')}</span></p>`,
    )
    .join('');

export const renderPage = (report: StatusReport): string => {
  const { version, startedAt, now, dead } = report;
  const title = report.problems.length === 0 ? 'Tocsin' : `Tocsin (${report.problems.length})`;
  const since = startedAt === undefined ? '' : `, started ${ago(startedAt, now)}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta http-equiv="refresh" content="${REFRESH_SECONDS}">
<style>${STYLE}</style></head><body>
<h1>Tocsin</h1><p class="quiet">${escape(`version ${version}${since}, as of ${now.slice(0, 19).replace('T', ' ')} UTC`)}</p>
${servicesHtml(report)}${dead === 0 ? '' : `<p class="bad">${dead} deliveries are dead and kept.</p>`}
${problemsHtml(report)}
<h2>Destinations</h2>${destinationsHtml(report)}
<h2>Protocols</h2>${protocolsHtml(report)}
<h2>Queues</h2>${queuesHtml(report)}
</body></html>
`;
};
