/** What `tocsin preview` shows: a sample, or an inspection or a stored notification as the service has it. */
import { type Alert, isAnnouncement } from '../alert.ts';
import { UsageError } from '../errors.ts';
import { SCENES, type Scene } from '../features/preview/scenes.ts';
import { toAlert } from '../poll/ingest.ts';
import type { ServiceClient } from '../service/client.ts';
import { walkPages } from '../service/paginate.ts';
import { type Notification, notificationId } from '../service/wire.ts';
import { oneOf } from './choice.ts';
import type { CommandContext } from './context.ts';
import { type ServiceOptions, withServices } from './services.ts';

export interface PreviewedOptions extends ServiceOptions {
  type: string;
  protocol?: string;
  id?: string;
}

/** Alerts, and how a sample of them is shown besides. */
export interface Previewed extends Pick<Scene, 'storm' | 'annotation'> {
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
export const previewed = async (options: PreviewedOptions, context: CommandContext): Promise<Previewed> =>
  options.id === undefined ? sampled(options) : { alerts: [await listedAlert(options, options.id, context)] };
