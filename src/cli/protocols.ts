/** `tocsin protocols list|create|add-assets|replace-channels`: the only commands that change anything at the service. */

import { ServiceError, UsageError } from '../errors.ts';
import type { Confirmation, Protocol } from '../service/protocols.ts';
import { cleanLine, nameText } from '../text.ts';
import { CHANNELS, channelChanges, channelSummary, createChannelMask } from './channels.ts';
import { type Action, answer, type CommandContext, type ExitCode } from './context.ts';
import { ASSETS, readList, STANDARD_INPUT } from './input.ts';
import { printListing } from './listing.ts';
import { allProtocols, type ServiceOptions, withServices } from './services.ts';
import { type Column, indented, renderTable } from './table.ts';
import { confirm } from './terminal.ts';

interface ListOptions extends ServiceOptions {
  hideAssets?: boolean;
  showSecrets?: boolean;
}

interface CreateOptions extends ServiceOptions {
  name: string;
  assets?: string;
  channels?: string;
}

interface ReplaceOptions extends ServiceOptions {
  /** Name or id. */
  protocol: string;
  channels: string;
  yes?: boolean;
}

const COLUMNS: readonly Column<Protocol>[] = [
  { head: 'protocol', shrinks: true, cell: ({ name }) => name },
  { head: 'id', cell: ({ id }) => id },
  { head: 'assets', isNumber: true, cell: ({ raw }) => (Array.isArray(raw.assets) ? raw.assets.length : undefined) },
  { head: 'tracked', cell: ({ tracking }) => (tracking === undefined ? undefined : tracking ? 'yes' : 'no') },
  { head: 'channels', shrinks: true, cell: ({ channels }) => channelSummary(channels) },
];

export const listProtocols: Action<ListOptions> = async (options, context) =>
  await withServices(options, context, async (services) => {
    const { client } = services.chosen();
    const hideAssets = options.hideAssets === true ? true : undefined;
    const mask = createChannelMask(options.showSecrets === true, context);
    const end = await printListing<Protocol>(
      context,
      { ...options, limit: Number.POSITIVE_INFINITY },
      {
        what: 'protocols',
        fetchPage: (pageNumber) => client.listProtocols({ pageNumber, hideAssets }, context.signal),
        identify: ({ id, name }) => id ?? name,
        rawOf: ({ raw }) => mask.apply(raw),
        render: (found) => renderTable(found, COLUMNS, context),
      },
    );
    mask.tell();
    return end;
  });

/** Without a readable answer nobody knows whether the service did what it was asked. */
const withDoubt = async (change: Promise<Confirmation>): Promise<Confirmation> => {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof ServiceError) || !['unreachable', 'unreadable', 'failed', 'aborted'].includes(error.reason))
      throw error;
    const message = `${error.message}; it may have been done all the same, so check before you try again`;
    throw new ServiceError(error.reason, message, error.status === undefined ? {} : { status: error.status });
  }
};

const printConfirmation = (
  confirmation: Confirmation,
  what: string,
  options: ServiceOptions,
  context: CommandContext,
): ExitCode => {
  const said = cleanLine(confirmation.message);
  const text = () => `${what}${said === '' ? '' : `; the service says: ${said}`}\n`;
  return answer(context, options, confirmation.raw, text);
};

const checkName = (name: string): void => {
  const isPlain = name.trim() === name && name !== '' && !/\p{C}/u.test(name);
  if (!isPlain)
    throw new UsageError('--name must not be empty, begin or end with a space, or hold invisible characters');
  // Every other endpoint has the name in its path.
  if (name === '.' || name === '..') throw new UsageError(`--name must not be '${name}': no URL can carry it`);
};

export const createProtocol: Action<CreateOptions> = async (options, context) => {
  const { name } = options;
  checkName(name);
  if (options.assets === STANDARD_INPUT && options.channels === STANDARD_INPUT)
    throw new UsageError('only one of --assets and --channels can come from standard input');
  const assets = options.assets === undefined ? {} : { assets: await readList(options.assets, ASSETS, context) };
  const notificationChannels =
    options.channels === undefined ? {} : { notificationChannels: await readList(options.channels, CHANNELS, context) };
  return await withServices(options, context, async (services) => {
    const { client } = services.chosen();
    const namesake = (await allProtocols(client, context.signal)).find((protocol) => protocol.name === name);
    if (namesake)
      throw new UsageError(`${client.name} lists a protocol '${name}' already (${cleanLine(namesake.id ?? 'no id')})`);
    const body = { protocolName: name, ...assets, ...notificationChannels };
    const confirmation = await withDoubt(client.createProtocol(body, context.signal));
    const id = cleanLine(confirmation.protocolId ?? 'no id given');
    return printConfirmation(confirmation, `Created '${name}' (${id})`, options, context);
  });
};

const changesText = ({ changes }: Confirmation, sent: number): string =>
  changes === undefined ? `Sent ${sent}` : `Added ${changes.added ?? '?'} and modified ${changes.modified ?? '?'}`;

export const addAssets: Action<ServiceOptions & { protocol: string; assets: string }> = async (options, context) => {
  const assets = await readList(options.assets, ASSETS, context);
  return await withServices(options, context, async (services) => {
    const { client, protocol, id } = await services.owned(options.protocol);
    const confirmation = await withDoubt(client.addAssets({ protocolId: id, assets }, context.signal));
    const what = `${changesText(confirmation, assets.length)} of ${assets.length} assets`;
    return printConfirmation(confirmation, `${what} of ${nameText(protocol.name)}`, options, context);
  });
};

/** Who pipes the channels in has no terminal left to be asked at. */
const askerOf = ({ channels }: ReplaceOptions, { ask }: CommandContext): Pick<CommandContext, 'ask'> =>
  channels === STANDARD_INPUT || ask === undefined ? {} : { ask };

export const replaceChannels: Action<ReplaceOptions> = async (options, context) => {
  const notificationChannels = await readList(options.channels, CHANNELS, context);
  return await withServices(options, context, async (services) => {
    const { client, protocol, id } = await services.owned(options.protocol);
    const name = cleanLine(protocol.name);
    const changes = channelChanges(protocol.channels, notificationChannels).flatMap((text) =>
      indented(text, context.width),
    );
    context.warn(
      `Channels of '${name}' (${cleanLine(id)}) at ${client.name}:\n${changes.map((line) => `${line}\n`).join('')}`,
    );
    await confirm(askerOf(options, context), `replaces the channels of '${name}' at ${client.name}`, options.yes);
    const confirmation = await withDoubt(
      client.replaceChannels({ protocolId: id, notificationChannels }, context.signal),
    );
    return printConfirmation(confirmation, `Replaced the channels of '${name}'`, options, context);
  });
};
