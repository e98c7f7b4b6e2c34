/** How the service writes what it keeps, with the interface's own spellings. */
import { isObject, type JsonObject, type JsonValue } from '../json.ts';
import type { SandboxAsset, SandboxChannel, SandboxInspection, SandboxNotification, SandboxProtocol } from './model.ts';
import type { Quirks } from './quirks.ts';

const OFFSET_HOURS = 2;

const writeDate = (at: number, { dateFormat }: Quirks): string | number => {
  switch (dateFormat) {
    case 'iso':
      return new Date(at).toISOString();
    case 'offset':
      return new Date(at + OFFSET_HOURS * 3_600_000).toISOString().replace('Z', `+0${OFFSET_HOURS}:00`);
    case 'seconds':
      return Math.floor(at / 1000);
    case 'milliseconds':
      return at;
  }
};

const writtenDates = (item: { createdAt: number; updatedAt: number }, quirks: Quirks): JsonObject => ({
  createdAt: writeDate(item.createdAt, quirks),
  updatedAt: writeDate(item.updatedAt, quirks),
});

export const writeInspection = (inspection: SandboxInspection, quirks: Quirks): JsonObject => ({
  _id: inspection._id,
  chainId: inspection.chainId,
  txHash: inspection.txHash,
  txTimestamp: writeDate(inspection.txTimestamp, quirks),
  txOrigin: inspection.txOrigin,
  assets: inspection.assets.map((asset) => ({ ...asset })),
  protocol: inspection.protocol,
  invokedMethodName: inspection.invokedMethodName,
  assessment: quirks.assessmentWords[inspection.assessment] ?? inspection.assessment,
  actions: [...inspection.actions],
  detections: Object.fromEntries(
    Object.entries(inspection.detections).map(([name, { status, message }]) => [
      name,
      { status: quirks.statusWords[status] ?? status, message },
    ]),
  ),
  ...writtenDates(inspection, quirks),
});

export const writeNotification = (notification: SandboxNotification, quirks: Quirks): JsonObject => ({
  message: notification.message,
  protocol: notification.protocol,
  ...writtenDates(notification, quirks),
});

const writeChannel = ({ name, contacts, url }: SandboxChannel): JsonObject => ({
  name,
  ...(contacts === undefined ? {} : { contacts: [...contacts] }),
  ...(url === undefined ? {} : { url }),
});

const writeChannels = (protocol: SandboxProtocol, { extraChannels }: Quirks): JsonObject[] =>
  [...protocol.channels, ...extraChannels].map(writeChannel);

const writeAsset = (asset: SandboxAsset, protocolId: string, quirks: Quirks): JsonObject => ({
  address: asset.address,
  chainId: asset.chainId,
  protocol: protocolId,
  admins: [...asset.admins],
  ...writtenDates(asset, quirks),
  descriptor: asset.descriptor,
  exposedMethods: [],
  privilegedMethods: structuredClone(asset.privilegedMethods),
  methods: { ...asset.methods },
});

const writeListedSettings = (protocol: SandboxProtocol, quirks: Quirks): JsonObject => {
  if (quirks.listedSettings === 'missing') return {};
  if (quirks.listedSettings === 'null') return { setttings: null };
  return {
    [quirks.listedSettings]: {
      triggers: structuredClone({ ...protocol.triggers }) as unknown as JsonObject,
      notificationChannels: writeChannels(protocol, quirks),
      tracking: protocol.tracking,
      detectors: protocol.detectors.map((detector) => ({ ...detector })),
    },
  };
};

export const writeProtocol = (protocol: SandboxProtocol, hideAssets: boolean, quirks: Quirks): JsonObject => ({
  protocolId: protocol.protocolId,
  descriptor: protocol.name,
  ...writeListedSettings(protocol, quirks),
  ...(hideAssets ? {} : { assets: protocol.assets.map((asset) => writeAsset(asset, protocol.protocolId, quirks)) }),
  ...writtenDates(protocol, quirks),
});

/** Here, and only here, a chain id is a string. */
export const writeSettings = (protocol: SandboxProtocol, quirks: Quirks): JsonObject => ({
  detectors: protocol.detectors.map(({ name }) => name),
  assets: protocol.assets.map(({ chainId, address, admins, descriptor }) => ({
    chainId: String(chainId),
    address,
    admins: [...admins],
    descriptor,
  })),
  notificationChannels: writeChannels(protocol, quirks),
});

const emptyToNull = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(emptyToNull);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, emptyToNull(inner)]));
};

const withExtras = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(withExtras);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([key, inner]) => [key, key === 'detections' ? inner : withExtras(inner)]);
  return { ...Object.fromEntries(fields), __v: 0, _links: { self: { href: '/v2', flags: [null, 1.5, 'x'] } } };
};

/** The quirks that touch every answer alike. */
export const dressAnswer = (answer: JsonValue, quirks: Quirks): JsonValue => {
  const plain = quirks.nullArrays && !Array.isArray(answer) ? emptyToNull(answer) : answer;
  const nulled = quirks.nullArrays && Array.isArray(plain) ? plain.map((element) => emptyToNull(element)) : plain;
  return quirks.extraFields ? withExtras(nulled) : nulled;
};
