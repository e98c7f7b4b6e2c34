/** How the page looks and moves, and the answer that allows the browser that and nothing else. */
import { createHash } from 'node:crypto';
import type { Answer } from '../answer.ts';

/**
 * The little script of the page: it shows what is new without a reload, and copies. The page needs it for nothing else.
 * The server says when there may be something new; then the page asks for itself, as its address says, and takes over
 * what is in `main`. What is folded out stays so. Where no events come, it asks at its own pace.
 */
export const SCRIPT = `
(() => {
  const $ = (selector) => document.querySelector(selector);
  const prepare = () => { if (navigator.clipboard) for (const each of document.querySelectorAll('.copy')) each.hidden = false; };
  prepare();
  document.addEventListener('click', async ({ target }) => {
    const button = target.closest('.copy');
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    button.blur();
    button.classList.add('done');
    setTimeout(() => button.classList.remove('done'), 1500);
  });
  if (!document.body.dataset.live) return;
  let asking = false;
  const say = (text, isBad) => { const live = $('#live'); if (live) { live.textContent = text; live.className = isBad ? 'bad' : ''; } };
  const focused = () => document.activeElement?.closest('main') && document.activeElement;
  // Nobody's mark or focus is taken away; that of a folded part is given back.
  const busy = () => document.hidden || !getSelection().isCollapsed || (focused() && focused().localName !== 'summary');
  const renew = async () => {
    if (asking || busy()) { if (!document.hidden && !asking) say('Paused while something is marked or focused.'); return; }
    asking = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
      if (!next.querySelector('main')) throw new Error('no page');
      if (busy()) return;
      for (const open of document.querySelectorAll('details[open][id]')) next.getElementById(open.id)?.setAttribute('open', '');
      const folded = focused()?.closest('details')?.id;
      $('main').replaceWith(next.querySelector('main'));
      if (folded) document.getElementById(folded)?.querySelector('summary').focus();
      document.title = next.title;
      $('link[rel=icon]').href = next.querySelector('link[rel=icon]').href;
      prepare();
      say('Updated by itself.');
    } catch { say('No connection to the daemon; this is what it said last.', true); }
    asking = false;
  };
  let timer;
  const pace = () => { timer ??= setInterval(renew, 10000); };
  const events = new EventSource('/events');
  events.onopen = () => { clearInterval(timer); timer = undefined; say('Updated by itself.'); };
  events.onmessage = renew;
  events.onerror = () => { say('No connection to the daemon; this is what it said last.', true); pace(); };
  document.addEventListener('visibilitychange', renew);
})();
`;

/** Quiet, in the reader's own light or dark, and on a phone one card a row. */
export const STYLE = `
:root { color-scheme: light dark; --page: #f7f8fa; --card: #fff; --ink: #1b2026; --quiet: #57606a; --line: #dde2e8; --accent: #1f5fd0;
  --bad: #b42318; --bad-card: #fef3f2; --bad-line: #f3c1bb; --look: #8a5300; --look-card: #fff8eb; --look-line: #f0d9a8;
  --good: #18703a; --good-card: #eefaf1; --good-line: #bfe3ca; --bar: #4f7fd9; --span: #b9cdf3; --median: #2f5fc4; }
@media (prefers-color-scheme: dark) { :root { --page: #0f1216; --card: #171b21; --ink: #e7eaed; --quiet: #a3adb8; --line: #2a313a; --accent: #8db4ff;
  --bad: #ff9d91; --bad-card: #2a1715; --bad-line: #5c2a25; --look: #f0c067; --look-card: #261d0d; --look-line: #57431a;
  --good: #76d694; --good-card: #10231a; --good-line: #23503a; --bar: #6f9bef; --span: #30466f; --median: #8fb2f5; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: break-word; }
header { position: sticky; top: 0; z-index: 1; display: flex; gap: 1rem; align-items: center; padding: .6rem max(1rem, calc(50vw - 38rem)); background: var(--card); border-bottom: 1px solid var(--line); }
main { max-width: 78rem; margin: 0 auto; padding: 1rem 1rem 2rem; }
.brand { color: inherit; font-weight: 700; font-size: 1.05rem; text-decoration: none; letter-spacing: .01em; }
form[role=search] { display: flex; flex: 1; justify-content: flex-end; gap: .4rem; min-width: 0; }
form[role=search] input { width: min(26rem, 100%); min-width: 0; }
input, select, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .3rem .6rem; }
input { background: var(--page); } input:focus, button:focus, select:focus, a:focus, summary:focus { outline: 2px solid var(--accent); outline-offset: 1px; }
button { cursor: pointer; } button:hover { border-color: var(--quiet); }
button.primary { background: #1f5fd0; border-color: #1f5fd0; color: #fff; } button.danger { background: #b42318; border-color: #b42318; color: #fff; }
.inline { display: inline-block; margin: 0 .3rem 0 0; } .inline button { padding: .05rem .5rem; font-size: .875rem; }
a { color: var(--accent); }
nav { white-space: nowrap; } nav .inline, nav span { margin: 0 0 0 .6rem; } nav span { color: var(--quiet); display: inline-block; max-width: 12rem; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
h1 { font-size: 1.35rem; line-height: 1.3; margin: 0; }
h2 { font-size: 1rem; margin: 0 0 .4rem; }
small { color: var(--quiet); font-weight: 400; font-size: .875rem; }
p { margin: .25rem 0; } code { font: .875em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.quiet { color: var(--quiet); } .bad { color: var(--bad); } .good { color: var(--good); } .nowrap { white-space: nowrap; }
main > section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .9rem 1.1rem; margin: 0 0 1rem; }
main > .hero { border-width: 1px; padding: 1rem 1.1rem; }
.hero.well { background: var(--good-card); border-color: var(--good-line); } .hero.look { background: var(--look-card); border-color: var(--look-line); }
.hero.bad { background: var(--bad-card); border-color: var(--bad-line); color: inherit; }
.hero h1 { display: flex; align-items: center; gap: .6rem; } .hero.well h1 { color: var(--good); } .hero.look h1 { color: var(--look); } .hero.bad h1 { color: var(--bad); }
.hero.well p { color: var(--ink); margin: .35rem 0 0; }
.troubles { margin: .7rem 0 0; padding: 0; list-style: none; display: grid; gap: .6rem; }
.troubles li { border-left: 3px solid var(--look); padding-left: .75rem; } .troubles li.urgent { border-color: var(--bad); }
.troubles p { margin: 0; } .troubles form { display: block; margin: .3rem 0 0; } .troubles .age { color: var(--quiet); white-space: nowrap; } .troubles .todo { color: var(--quiet); }
.tiles { display: grid; grid-auto-flow: column; grid-auto-columns: 1fr; gap: .6rem; margin: 0 0 1rem; }
.tiles div { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .5rem .8rem; }
dt { color: var(--quiet); font-size: .8125rem; } dd { margin: 0; } .tiles dd { font-size: 1.25rem; font-variant-numeric: tabular-nums; }
dd .note { font-size: .875rem; white-space: nowrap; }
.plots { display: grid; grid-template-columns: 1fr 1fr; gap: 2rem; } figure { margin: 0; min-width: 0; }
figcaption span { color: var(--quiet); font-size: .875rem; margin-left: .4rem; }
.plot { display: flex; height: 100px; margin-top: .5rem; } .plot svg { display: block; width: 100%; height: 100px; } .plot .scale { width: 48px; flex: none; }
.scale text { fill: var(--quiet); font: 11px system-ui, sans-serif; }
.bars rect { fill: var(--bar); } .span { fill: var(--span); } .median { fill: var(--median); } .grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.axis { display: flex; justify-content: space-between; margin-left: 48px; color: var(--quiet); font-size: .75rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .4rem 1rem .4rem 0; text-align: left; vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
th { color: var(--quiet); font-size: .8125rem; font-weight: 500; white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; } td.wide, td code, td bdi, td .bad, .troubles, .history, h1, dd { overflow-wrap: anywhere; }
td:not(.number, .time, .word, .wide) { min-width: 8rem; }
.number { font-variant-numeric: tabular-nums; padding-right: 1.75rem; text-align: right; white-space: nowrap; }
.word { white-space: nowrap; } .time { font-variant-numeric: tabular-nums; white-space: nowrap; } .more { padding-top: .3rem; }
.hash i { font-size: 0; } .hash i::before { content: "…"; font-size: .8125rem; font-style: normal; } .hash { cursor: text; }
.copy.done::after { content: '✓'; color: var(--good); } .copy.done svg { display: none; }
.copy { border: 0; background: none; padding: 0 .3rem; color: var(--quiet); } .trace { font-size: .875rem; margin-left: .3rem; }
.badge { border-radius: 4px; padding: .05rem .4rem; font-size: .8125rem; border: 1px solid var(--line); color: var(--quiet); white-space: nowrap; }
.badge.bad { background: var(--bad-card); border-color: var(--bad-line); color: var(--bad); }
@media (min-width: 46.01rem) { td:first-child:not(.time, .wide) { min-width: 12rem; } .alerts td:nth-child(2) { min-width: 8rem; } .alerts td:nth-child(5) { width: 52%; } }
.chips { display: flex; flex-wrap: wrap; gap: .25rem .35rem; margin: 0; padding: 0; list-style: none; }
.chip { display: inline-flex; gap: .3rem; align-items: baseline; max-width: 100%; border: 1px solid var(--line); border-radius: 999px; padding: 0 .55rem; font-size: .8125rem; white-space: nowrap; color: var(--quiet); }
.chip .cut { max-width: 17rem; overflow: hidden; text-overflow: ellipsis; color: var(--ink); } .chip span { font-variant-numeric: tabular-nums; }
.chip.delivered b { color: var(--good); } .chip.dead { border-color: var(--bad-line); background: var(--bad-card); color: var(--bad); }
.chip.waiting { border-color: var(--look-line); background: var(--look-card); color: var(--look); }
main > .folded { padding: .2rem 1.1rem; } details { border-bottom: 1px solid var(--line); } details:last-child { border: 0; } summary { cursor: pointer; padding: .6rem 0; font-weight: 600; }
details[open] { padding-bottom: .8rem; }
.card { border-top: 1px solid var(--line); padding-top: .8rem; margin-top: .8rem; } .unmarked, .history { list-style: none; padding: 0; margin: .3rem 0; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: .4rem 1rem; margin: .4rem 0; } .traced { padding: .5rem 0; border-top: 1px solid var(--line); }
.traced > .chips { display: inline-flex; } .traced .cut { max-width: min(40rem, 60vw); } .history { font-size: .875rem; padding-left: 1rem; } .history time { color: var(--quiet); margin-right: .5rem; font-variant-numeric: tabular-nums; }
.note form:not(.inline) { display: grid; gap: .7rem; max-width: 30rem; margin-top: .8rem; } .note label { display: grid; gap: .2rem; color: var(--quiet); }
footer { padding: .5rem 0; font-size: .875rem; }
/* Five or six tiles, none alone in its line: 3 + 2 or 3 + 3. */
@media (max-width: 58rem) {
  .plots { grid-template-columns: 1fr; gap: 1rem; }
  .tiles { grid-auto-flow: row; grid-template-columns: repeat(12, 1fr); } .tiles div { grid-column: span 4; }
  .tiles div:first-child:nth-last-child(5) ~ div:nth-child(n+4) { grid-column: span 6; }
}
@media (max-width: 46rem) {
  header { flex-wrap: wrap; gap: .4rem .8rem; } form[role=search] { order: 3; flex-basis: 100%; } form[role=search] input { flex: 1; } nav { margin-left: auto; }
  main { padding: .75rem .6rem 2rem; } main > section { padding: .8rem .8rem; } html { scroll-padding-top: 6rem; }
  figcaption span { display: block; margin: 0; }
  thead { display: none; } tbody, table { display: block; }
  tr { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); column-gap: 1.5rem; border-bottom: 1px solid var(--line); padding: .5rem 0; }
  tbody tr:last-child { border: 0; }
  td:not(.number, .time, .word, .wide) { min-width: 0; } td > * { min-width: 0; }
  td { grid-column: 1 / -1; display: flex; gap: .75rem; justify-content: space-between; border: 0; padding: .05rem 0; text-align: right; white-space: normal; }
  td.number, td.word:not(:first-child) { grid-column: auto; padding: .05rem 0; } td.time + td.number { grid-column: 1 / -1; }
  td::before { content: attr(data-label); color: var(--quiet); flex: none; }
  td.wide { display: block; text-align: left; grid-column: 1 / -1; } td.wide::before { display: none; }
  td:first-child { display: block; font-weight: 600; text-align: left; } td:first-child::before, td:empty { display: none; }
  td.wide:first-child { font-weight: inherit; }
  td.number:has(> .quiet), td[data-label=Rate] { display: none; }
  /* An alert: when and what, its protocol, its transaction, where it went. */
  .alerts tr { padding: .6rem 0; } .alerts td { justify-content: flex-start; text-align: left; } .alerts td::before { display: none; }
  .alerts td:nth-child(1) { grid-column: 1; font-weight: 400; color: var(--quiet); } .alerts td:nth-child(3) { grid-column: 2; grid-row: 1; justify-content: flex-end; }
  .alerts .badge { white-space: normal; } .alerts td:nth-child(2) { font-weight: 600; } .alerts td:nth-child(5) { padding-top: .25rem; }
}
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Content-Security-Policy: our own style, script, icon, forms and events, and nothing else. `data:` is for the icon.
 */
const PAGE_POLICY = `default-src 'none'; style-src ${hashOf(STYLE)}; script-src ${hashOf(SCRIPT)}; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

export const htmlAnswer = (code: number, body: string): Answer => ({
  code,
  type: 'text/html; charset=utf-8',
  body,
  headers: { 'content-security-policy': PAGE_POLICY },
});
