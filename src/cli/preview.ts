/** `tocsin preview`: what people would get, without sending anything. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CHANNEL_KINDS, type ChannelKind, FORMATS } from '../alert.ts';
import { WEBHOOK_FORMATS } from '../channels/webhook/formats/names.ts';
import { loadWithoutSecrets } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { SENT_AT } from '../features/preview/findings.ts';
import { previewPage, previewText } from '../features/preview/page.ts';
import { iso } from '../time.ts';
import { oneOf } from './choice.ts';
import { type CommandContext, EXIT, type ExitCode, writeJson } from './context.ts';
import { type PreviewedOptions, previewed } from './preview-alerts.ts';
import { type Composed, composePreview } from './preview-compose.ts';

interface PreviewOptions extends PreviewedOptions {
  kind?: string[];
  format: string;
  webhookFormat: string;
  html?: string;
  open?: boolean;
}

const isAbsent = (error: unknown): boolean => error instanceof Error && /there is no such file/.test(error.message);

const DEFAULT_CONFIG = 'config/tocsin.yaml';

/** Somebody who has no config yet sees the words of the defaults; one that was named has to be there. */
const configOf = async ({ config }: PreviewOptions, { env }: CommandContext): Promise<Config | undefined> => {
  try {
    return (await loadWithoutSecrets(config, env)).config;
  } catch (error) {
    if (config === DEFAULT_CONFIG && isAbsent(error)) return undefined;
    throw error;
  }
};

const OPENERS: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer' };

/** Where no browser can be opened, the file is named all the same. */
const openFile = (file: string): Promise<boolean> =>
  new Promise((done) => {
    execFile(OPENERS[process.platform] ?? 'xdg-open', [file], (error) => done(error === null));
  });

const writePages = async (
  composed: readonly Composed[],
  { html, open = false }: PreviewOptions,
  now: number,
  context: CommandContext,
): Promise<void> => {
  const folder = html === undefined ? await mkdtemp(join(tmpdir(), 'tocsin-preview-')) : resolve(html);
  await mkdir(folder, { recursive: true });
  const reader = { now, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone };
  for (const { kind, bodies } of composed) {
    const file = join(folder, `${kind}.html`);
    await writeFile(file, previewPage(kind, bodies, reader));
    context.write(`${file}\n`);
    if (open && !(await openFile(file))) context.warn(`tocsin: no browser could be opened; open ${file} yourself\n`);
  }
};

/** Those that are set up; without a config, those that people read. */
const kindsOf = ({ kind }: PreviewOptions, config: Config | undefined): ChannelKind[] => {
  if (kind !== undefined) return kind.map((one) => oneOf('--kind', one, CHANNEL_KINDS));
  const configured = CHANNEL_KINDS.filter((one) => config?.channels[one] !== undefined);
  return configured.length > 0 ? configured : CHANNEL_KINDS.filter((one) => one !== 'webhook');
};

export const preview = async (options: PreviewOptions, context: CommandContext): Promise<ExitCode> => {
  const format = oneOf('--format', options.format, FORMATS);
  const webhookFormat = oneOf('--webhook-format', options.webhookFormat, WEBHOOK_FORMATS);
  const config = await configOf(options, context);
  const kinds = kindsOf(options, config);
  const shown = await previewed(options, context);
  const sentAt = options.id === undefined ? SENT_AT : iso(Date.now());
  const settings = { format, webhookFormat, sentAt };
  const composed = kinds.map((kind) => composePreview(shown, { kind, ...settings }, config, context));
  const now = Date.parse(sentAt);
  if (options.json === true) writeJson(context, composed);
  else if (options.open === true || options.html !== undefined) await writePages(composed, options, now, context);
  else {
    const reader = { now, timeZone: config?.timeZone ?? 'UTC' };
    for (const { kind, bodies } of composed) {
      for (const body of bodies) context.write(`--- ${kind} ---\n${previewText(kind, body, reader)}\n\n`);
    }
  }
  return EXIT.done;
};
