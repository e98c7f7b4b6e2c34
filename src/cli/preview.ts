/** `tocsin preview`: what people would get, without sending anything. */

import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type Alert,
  CHANNEL_KINDS,
  type ChannelKind,
  FORMATS,
  type Format,
  isAnnouncement,
  isHuman,
} from '../alert.ts';
import { createPresentation } from '../channels/content/presentation.ts';
import { createTemplates } from '../channels/content/template.ts';
import { kindFacts } from '../channels/registry.ts';
import { WEBHOOK_FORMATS, type WebhookFormat } from '../channels/webhook/formats/names.ts';
import { loadWithoutSecrets } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { messageOf, UsageError } from '../errors.ts';
import { SENT_AT } from '../features/preview/findings.ts';
import { SCENES, type Scene } from '../features/preview/scenes.ts';
import { destinationId } from '../item.ts';
import { toAlert } from '../poll/ingest.ts';
import { makeDirectory } from '../private-file.ts';
import { previewPage, previewText } from '../sandbox/screens/page.ts';
import type { ServiceClient } from '../service/client.ts';
import { walkPages } from '../service/paginate.ts';
import { type Notification, notificationId } from '../service/wire.ts';
import { iso } from '../time.ts';
import { type Action, type CommandContext, EXIT, writeJson } from './context.ts';
import { oneOf } from './options.ts';
import { type ServiceOptions, withServices } from './services.ts';

interface PreviewedOptions extends ServiceOptions {
  type: string;
  protocol?: string;
  id?: string;
}

/** Alerts, and how a sample of them is shown besides. */
interface Previewed extends Pick<Scene, 'more' | 'annotation'> {
  alerts: readonly Alert[];
}

/** Scenes by the type of their alert; those of several alerts, and further ones of a type, by their name. */
const samples = (): Map<string, Scene> => {
  const found = new Map<string, Scene>();
  for (const scene of SCENES) {
    const [first, ...others] = scene.alerts();
    const key = first === undefined || others.length > 0 || found.has(first.type) ? scene.name : first.type;
    found.set(key, scene);
  }
  return found;
};

/** As if it were of that protocol; Tocsin's own messages stay its own. */
const ofProtocol = (alert: Alert, protocol: string | undefined): Alert =>
  protocol === undefined || isAnnouncement(alert) ? alert : { ...alert, protocol, item: { ...alert.item, protocol } };

const sampled = ({ type, protocol }: PreviewedOptions): Previewed => {
  const all = samples();
  const scene = all.get(oneOf('--type', type, [...all.keys()]));
  const alerts = scene?.alerts() ?? [];
  return { ...scene, alerts: alerts.length === 1 ? alerts.map((alert) => ofProtocol(alert, protocol)) : alerts };
};

/** Pages, the newest items first. */
const MOST_PAGES = 10;

const notificationOf = async (
  { listNotifications }: Pick<ServiceClient, 'listNotifications'>,
  protocol: string,
  id: string,
  signal: AbortSignal,
): Promise<Notification | undefined> => {
  const fetchPage = (pageNumber: number | undefined) =>
    listNotifications({ protocols: [protocol], sort: 'dsc', pageNumber }, signal);
  let pages = 0;
  for await (const { items } of walkPages(fetchPage, notificationId)) {
    const found = items.find((item) => notificationId(item) === id);
    pages += 1;
    if (found !== undefined || pages >= MOST_PAGES) return found;
  }
  return undefined;
};

/** One inspection or stored notification as the service has it now. */
const listedAlert = async (options: PreviewedOptions, id: string, context: CommandContext): Promise<Alert> => {
  const { protocol } = options;
  if (protocol === undefined) throw new UsageError('--id needs --protocol beside it: the service lists by protocol');
  return await withServices(options, context, async (services) => {
    const { client } = await services.listing([protocol]);
    const { items } = await client.listInspections({ protocol, id: [id] }, context.signal);
    const inspection = items.find((item) => item.id === id);
    const now = Date.now();
    if (inspection !== undefined) {
      return toAlert({ ...inspection, source: 'inspections', itemId: id }, client.name, protocol, now);
    }
    const stored = await notificationOf(client, protocol, id, context.signal);
    if (stored !== undefined)
      return toAlert({ ...stored, source: 'notifications', itemId: id }, client.name, protocol, now);
    throw new UsageError(`${client.name} lists no inspection or stored notification '${id}' of '${protocol}'`);
  });
};

/** An item of the service where `id` names one, else a sample. */
const previewed = async (options: PreviewedOptions, context: CommandContext): Promise<Previewed> =>
  options.id === undefined ? sampled(options) : { alerts: [await listedAlert(options, options.id, context)] };

/** As a channel would: a body for each message. `config`: whose names, links and templates word it; without one, the defaults do. */
const composePreview = async (
  previewed: Previewed,
  kind: ChannelKind,
  { format, webhookFormat, sentAt }: { format: Format; webhookFormat: WebhookFormat; sentAt: string },
  config: Config | undefined,
  { warn }: CommandContext,
) => {
  const templates = createTemplates(config?.templates ?? [], {
    kind,
    ofAnnouncements: true,
    onFailed: (index, why) => warn(`tocsin: templates.${index} fails for ${kind}: ${why}\n`),
  });
  const { address, load } = kindFacts(kind).preview;
  const destination = { id: destinationId(kind, address), kind, address, label: address };
  const { alerts, more, annotation } = previewed;
  const presentation = createPresentation(config, templates);
  const context = { format, sentAt, presentation, ...more };
  const compose = await load();
  return { kind, bodies: compose({ destination, alerts: [...alerts] }, context, { annotation, webhookFormat }) };
};

type Composed = Awaited<ReturnType<typeof composePreview>>;

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
  await makeDirectory(folder, 0o777).catch((error: unknown) => {
    throw new UsageError(`--html ${folder} cannot be made: ${messageOf(error)}`);
  });
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
  return configured.length > 0 ? configured : CHANNEL_KINDS.filter((one) => isHuman({ kind: one }));
};

export const preview: Action<PreviewOptions> = async (options, context) => {
  const format = oneOf('--format', options.format, FORMATS);
  const webhookFormat = oneOf('--webhook-format', options.webhookFormat, WEBHOOK_FORMATS);
  const config = await configOf(options, context);
  const kinds = kindsOf(options, config);
  const shown = await previewed(options, context);
  const sentAt = options.id === undefined ? SENT_AT : iso(Date.now());
  const settings = { format, webhookFormat, sentAt };
  const composed = await Promise.all(kinds.map((kind) => composePreview(shown, kind, settings, config, context)));
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
