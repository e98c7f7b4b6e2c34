/** How the status page looks: quiet, in the reader's own light or dark, and on a phone one card a row. */
import { createHash } from 'node:crypto';

export const STYLE = `
:root { color-scheme: light dark; --page: #fff; --ink: #1f2328; --quiet: #59636e; --line: #d9dee4; --card: #f6f8fa;
  --bad: #b42318; --bad-card: #fef3f2; --good: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --page: #14171a; --ink: #e6e8ea; --quiet: #9aa4ae; --line: #32383e;
  --card: #1c2024; --bad: #ff9b8e; --bad-card: #2d1b19; --good: #6fcf88; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.25rem 1rem 3rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.3; margin: 0; }
h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
h2 small { color: var(--quiet); font-weight: 400; font-size: .875rem; }
p { margin: .25rem 0; }
.quiet { color: var(--quiet); } .bad { color: var(--bad); } .good { color: var(--good); }
dl { display: grid; grid-auto-flow: column; grid-auto-columns: 1fr; gap: .5rem; margin: 1rem 0 0; }
dl div { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; }
dt { color: var(--quiet); font-size: .8125rem; } dd { margin: 0; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
dd .note { font-size: .875rem; white-space: nowrap; }
.problems { background: var(--bad-card); border-left: 3px solid var(--bad); border-radius: 0 6px 6px 0; margin: 1rem 0 0; padding: .5rem 1rem; }
.problems h2 { margin: 0; color: var(--bad); } .problems ul { margin: .25rem 0; padding-left: 1.1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .4rem 1rem .4rem 0; text-align: left; vertical-align: top; }
th { color: var(--quiet); font-size: .8125rem; font-weight: 500; white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
.number { font-variant-numeric: tabular-nums; padding-right: 1.75rem; text-align: right; white-space: nowrap; }
.word { white-space: nowrap; }
.time { font-variant-numeric: tabular-nums; white-space: nowrap; }
/* Six or seven tiles, none alone in its line: 3 + 3 or 4 + 3, on a phone 2 + 2 + 2 or 3 + 2 + 2. */
@media (max-width: 58rem) {
  dl { grid-auto-flow: row; grid-template-columns: repeat(12, 1fr); } dl div { grid-column: span 4; }
  dl div:first-child:nth-last-child(7), dl div:first-child:nth-last-child(7) ~ div:nth-child(-n+4) { grid-column: span 3; }
}
@media (max-width: 44rem) {
  dl div { grid-column: span 6; }
  dl div:first-child:nth-last-child(7), dl div:first-child:nth-last-child(7) ~ div:nth-child(-n+3) { grid-column: span 4; }
  dl div:first-child:nth-last-child(7) ~ div:nth-child(4) { grid-column: span 6; }
  thead { display: none; }
  tr { display: grid; grid-template-columns: 1fr 1fr; column-gap: 2rem; border-bottom: 1px solid var(--line); padding: .5rem 0; }
  td { grid-column: 1 / -1; display: flex; gap: .75rem; justify-content: space-between; border: 0; padding: .05rem 0; text-align: right; white-space: normal; }
  td.number, td.word:not(:first-child) { grid-column: auto; padding: .05rem 0; } td.time + td.number { grid-column: 1 / -1; }
  td::before { content: attr(data-label); color: var(--quiet); flex: none; }
  td:first-child { display: block; font-weight: 600; text-align: left; } td:first-child::before, td:empty { display: none; }
}
`;

const styleHash = createHash('sha256').update(STYLE).digest('base64');

/** Content-Security-Policy: our own style and nothing else, neither script nor frame nor form. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
