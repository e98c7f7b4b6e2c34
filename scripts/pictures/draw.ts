/** Pictures of HTML by a headless Chromium. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SCREEN_STYLE } from '../../src/sandbox/screens/page.ts';
import { type Browser, startChromium } from '../../test/support/chromium.ts';
import { LOCK_STYLE } from './lock-screen.ts';
import { shrinkPng } from './png.ts';
import type { Panel, Scheme } from './surfaces.ts';
import { TERMINAL_STYLE } from './terminal.ts';

/** A message that is longer is cut off; so that each of several has its place. */
const tallestOf = (messages: number): number => (messages > 2 ? 700 : 1100);
const GAP = 12;

const STYLE = `
*{box-sizing:border-box}
body{margin:0;padding:${GAP}px;background:#8a8a8a;display:inline-flex;flex-direction:column;gap:${GAP}px}
.panels{display:flex;gap:${GAP}px;align-items:flex-start}
.panel{background:#fff}
.panel.dark{background:#1a1d21}
.cuttable{position:relative;overflow:hidden}
.cuttable.cut::after{content:'… and so on';position:absolute;left:0;right:0;bottom:0;padding:6px;background:#8a8a8a;color:#fff;font:italic 14px 'Liberation Sans',Arial,sans-serif;text-align:center}
img{display:block}
${SCREEN_STYLE}${TERMINAL_STYLE}${LOCK_STYLE}`;

const MARK_CUT = `for (const each of document.querySelectorAll('.cuttable')) if (each.scrollHeight > each.clientHeight + 1) each.classList.add('cut')`;

const page = (inner: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tocsin</title><style>${STYLE}</style><body>${inner}</body></html>`;

export interface Artist {
  /** A PNG of panels, in rows. */
  draw(rows: readonly (readonly Panel[])[]): Promise<Buffer>;
  /** The text that a reader sees: at a glance, and with what is folded away. */
  textsIn(html: string, parts: { message: string; folded: string }): Promise<{ whole: string; glance: string }>;
  close(): Promise<void>;
}

export const createArtist = async (chromium: string): Promise<Artist> => {
  const browser: Browser = await startChromium(chromium);
  const folder = await mkdtemp(join(tmpdir(), 'tocsin-pictures-'));
  const { tab } = browser;

  const open = async (html: string, width: number, scheme: Scheme): Promise<void> => {
    const file = join(folder, 'page.html');
    await writeFile(file, html);
    await tab.look(width, scheme);
    await tab.open(pathToFileURL(file).href);
  };

  /** The frame of a mail is as wide as its window; its colours are the system's. */
  const documentImage = async (html: string, { width, scheme }: Panel): Promise<string> => {
    await open(html, width, scheme);
    const png = await tab.picture({ width });
    return `<img alt="" width="${width}" src="data:image/png;base64,${png.toString('base64')}">`;
  };

  const partsOf = async (panel: Panel): Promise<string[]> => {
    if ('messages' in panel) return [...panel.messages];
    const parts: string[] = [];
    for (const { head, html } of panel.documents) parts.push(`${head}${await documentImage(html, panel)}`);
    return parts;
  };

  const innerOf = async (panel: Panel): Promise<string> => {
    const parts = await partsOf(panel);
    const tallest = tallestOf(parts.length);
    return parts.map((part) => `<div class="cuttable" style="max-height:${tallest}px">${part}</div>`).join('');
  };

  const panelHtml = async (panel: Panel): Promise<string> => {
    const classes = ['panel', panel.scheme, panel.name, ...(panel.width < 500 ? ['narrow'] : [])].join(' ');
    return `<div class="${classes}" style="width:${panel.width}px">${await innerOf(panel)}</div>`;
  };

  return {
    draw: async (rows) => {
      const drawn: string[] = [];
      for (const row of rows) {
        const panels: string[] = [];
        for (const panel of row) panels.push(await panelHtml(panel));
        drawn.push(`<div class="panels">${panels.join('')}</div>`);
      }
      await open(page(drawn.join('')), 1600, 'light');
      await tab.evaluate(MARK_CUT);
      return shrinkPng(await tab.picture({ of: 'body' }));
    },
    textsIn: async (html, { message, folded }) => {
      await open(/^<!doctype/i.test(html) ? html : page(html), 900, 'light');
      const read = `[...document.querySelectorAll('${message}')].map((each) => each.innerText).join('\\n')`;
      const whole = String(await tab.evaluate(read));
      await tab.evaluate(`for (const each of document.querySelectorAll('${folded}')) each.remove()`);
      return { whole, glance: String(await tab.evaluate(read)) };
    },
    close: async () => {
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
