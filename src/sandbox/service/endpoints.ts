/** The eight endpoints over what the service keeps: a call in, the JSON of the answer out. */
import type { JsonObject, JsonValue } from '../json.ts';
import type { Random } from '../random.ts';
import { readAssets, readChannels, readObject, readText } from './bodies.ts';
import { createDateFilter, createInspectionFilter, type Place, sortItems } from './filters.ts';
import type { ItemStore } from './items.ts';
import type { SandboxInspection, SandboxProtocol } from './model.ts';
import { cutPage, pageSizeOf, wrapPage } from './paging.ts';
import type { ProtocolStore } from './protocols.ts';
import type { Query } from './query.ts';
import type { Quirks } from './quirks.ts';
import { Refusal } from './refusal.ts';
import type { Endpoint } from './routes.ts';
import { writeInspection, writeNotification, writeProtocol, writeSettings } from './wire.ts';

export interface Call {
  apiKey: string;
  /** From the path; empty where the path names none. */
  protocol: string;
  place: Place;
  query: Query;
  quirks: Quirks;
  body: Buffer;
}

interface EndpointDependencies {
  protocols: ProtocolStore;
  items: ItemStore;
  random: Random;
  /** Called with every page of inspections that has items. */
  onPage(protocol: SandboxProtocol, first: SandboxInspection, call: Call): void;
}

const countStats = (found: readonly SandboxInspection[], call: Call): JsonValue => {
  const count = (assessment: string): number => found.filter((item) => item.assessment === assessment).length;
  const stats = {
    page: Math.ceil(found.length / pageSizeOf(call.query, call.quirks)),
    critical: count('critical'),
    suspicious: count('suspecious'),
    total: found.length,
  };
  switch (call.quirks.stats) {
    case 'numbers':
      return stats;
    case 'strings':
      return Object.fromEntries(Object.entries(stats).map(([name, value]) => [name, String(value)]));
    case 'negative':
      return { ...stats, total: -1 };
    case 'empty':
      return {};
    case 'null':
      return null;
  }
};

const byName = (protocols: ProtocolStore, { apiKey, protocol }: Call): SandboxProtocol => {
  const found = protocols.byName(apiKey, protocol);
  if (!found) throw new Refusal(404, 'no such protocol');
  return found;
};

const byId = (protocols: ProtocolStore, apiKey: string, body: JsonObject): SandboxProtocol => {
  const found = protocols.byId(apiKey, readText(body, 'protocolId'));
  if (!found) throw new Refusal(404, 'no such protocol');
  return found;
};

type Endpoints<Name extends Endpoint> = Record<Name, (call: Call) => JsonValue>;

type ProtocolEndpoint = 'listProtocols' | 'createProtocol' | 'addAssets' | 'replaceChannels' | 'protocolSettings';

const protocolEndpoints = ({ protocols }: EndpointDependencies): Endpoints<ProtocolEndpoint> => ({
  listProtocols: ({ apiKey, query, quirks }) => {
    const page = cutPage(protocols.list(apiKey), query, quirks);
    const written = page.items.map((protocol) => ({
      protocols: writeProtocol(protocol, query.flag('hideAssets'), quirks),
    }));
    return quirks.listing === 'split'
      ? written.map((element) => wrapPage([element], page, quirks))
      : [wrapPage(written, page, quirks)];
  },
  createProtocol: ({ apiKey, body }) => {
    const fields = readObject(body);
    const name = readText(fields, 'protocolName');
    if (protocols.byName(apiKey, name)) throw new Refusal(409, 'a protocol of that name exists');
    const { protocolId } = protocols.add(apiKey, {
      name,
      ...(fields.assets === undefined ? {} : { assets: readAssets(fields) }),
      ...(fields.notificationChannels === undefined ? {} : { channels: readChannels(fields) }),
    });
    return { protocolId, message: 'Protocol created' };
  },
  addAssets: ({ apiKey, body }) => {
    const fields = readObject(body);
    const protocol = byId(protocols, apiKey, fields);
    return { message: 'Assets added', changes: { ...protocols.addAssets(protocol, readAssets(fields)) } };
  },
  replaceChannels: ({ apiKey, body }) => {
    const fields = readObject(body);
    protocols.replaceChannels(byId(protocols, apiKey, fields), readChannels(fields));
    return { message: 'Notification channels replaced' };
  },
  protocolSettings: (call) => {
    const protocol = byName(protocols, call);
    if (call.quirks.settings === 'missing') throw new Refusal(404, 'no settings');
    if (call.quirks.settings === 'null') return null;
    return call.quirks.settings === 'empty' ? {} : writeSettings(protocol, call.quirks);
  },
});

const itemEndpoints = ({
  protocols,
  items,
  random,
  onPage,
}: EndpointDependencies): Endpoints<Exclude<Endpoint, ProtocolEndpoint>> => {
  const inspectionsFor = (call: Call): { protocol: SandboxProtocol; found: SandboxInspection[] } => {
    const protocol = byName(protocols, call);
    const wanted = createInspectionFilter(call.query, call.place, call.quirks);
    return { protocol, found: items.inspections(protocol).filter(wanted) };
  };

  return {
    listInspections: (call) => {
      const { protocol, found } = inspectionsFor(call);
      const page = cutPage(sortItems(found, call.query, call.quirks, random), call.query, call.quirks);
      const written = page.items.map((item) => writeInspection(item, call.quirks));
      const [first] = page.items;
      if (first) onPage(protocol, first, call);
      return wrapPage(written, page, call.quirks);
    },
    inspectionStats: (call) => countStats(inspectionsFor(call).found, call),
    listNotifications: ({ apiKey, query, quirks }) => {
      const names = query.many('protocolName');
      if (!names && quirks.withoutNames === 'reject') throw new Refusal(400, 'protocolName is required');
      const found = protocols
        .list(apiKey)
        .filter(({ name }) => names?.includes(name) ?? quirks.withoutNames === 'everything')
        .flatMap((protocol) => items.notifications(protocol))
        .filter(createDateFilter(query, quirks));
      const page = cutPage(sortItems(found, query, quirks, random), query, quirks);
      return wrapPage(
        page.items.map((item) => writeNotification(item, quirks)),
        page,
        quirks,
      );
    },
  };
};

export const createEndpoints = (dependencies: EndpointDependencies): Endpoints<Endpoint> => ({
  ...protocolEndpoints(dependencies),
  ...itemEndpoints(dependencies),
});
