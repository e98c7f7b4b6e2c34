/** The little script of the page: it shows what is new without a reload, and copies. The page needs it for nothing else. */

/**
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
