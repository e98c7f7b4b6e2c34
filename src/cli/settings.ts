/** `tocsin settings`: a protocol's detectors, assets and channels, as the service has them. */
import { isObject, type JsonObject, type JsonValue } from '../alert.ts';
import { type ChannelRow, channelRows } from '../channels/registry.ts';
import type { ProtocolSettings } from '../service/protocols.ts';
import { createChannelMask } from './channels.ts';
import { type Action, type CommandContext, EXIT, writeJson } from './context.ts';
import { createChainText, fieldText } from './inspections.ts';
import { type ServiceOptions, withServices } from './services.ts';
import { type Column, indented, renderTable } from './table.ts';

const listOf = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : []);

const section = (title: string, count: number, body: string): string =>
  `${title} (${count})\n${count === 0 ? '' : body}`;

const assetColumns = (chainText: (item: JsonObject) => string): Column<JsonObject>[] => [
  { head: 'chain', shrinks: true, cell: chainText },
  { head: 'address', cell: ({ address }) => fieldText(address) },
  { head: 'asset', shrinks: true, cell: ({ descriptor }) => fieldText(descriptor) },
];

const adminsBelow = ({ admins }: JsonObject): string[] => {
  const named = listOf(admins).map(fieldText);
  return named.length === 0 ? [] : [`admins ${named.join(' ')}`];
};

const CHANNELS: readonly Column<ChannelRow>[] = [
  { head: 'kind', shrinks: true, cell: ({ kind }) => kind },
  { head: 'address', shrinks: true, cell: ({ address }) => address },
];

const renderSettings = (
  { detectors, channels, raw }: ProtocolSettings,
  chainText: (item: JsonObject) => string,
  { width }: CommandContext,
): string => {
  const names = detectors.map(fieldText);
  const assets = listOf(raw.assets).flatMap((asset) => (isObject(asset) ? [asset] : []));
  const rows = channelRows(channels);
  return [
    section('Detectors', names.length, `${indented(names.join(', '), width).join('\n')}\n`),
    section('Assets', assets.length, renderTable(assets, assetColumns(chainText), { width, below: adminsBelow })),
    section('Channels', rows.length, renderTable(rows, CHANNELS, { width })),
  ].join('\n');
};

export const settings: Action<ServiceOptions & { protocol: string; showSecrets?: boolean }> = async (
  options,
  context,
) =>
  await withServices(options, context, async (services) => {
    const { client, config } = await services.listing([options.protocol]);
    const found = await client.settings(options.protocol, context.signal);
    const mask = createChannelMask(options.showSecrets === true, context);
    if (options.json === true) writeJson(context, mask.apply(found.raw));
    else context.show(renderSettings(found, createChainText(config), context));
    mask.tell();
    return EXIT.done;
  });
