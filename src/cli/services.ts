/** Which of the config's services a command asks: the one it names, the only one, or the one that lists a protocol. */

import { loadConfig } from '../config/load.ts';
import { didYouMean } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import { UsageError } from '../errors.ts';
import type { ServiceClient } from '../service/client.ts';
import { openServices } from '../service/open.ts';
import { walkPages } from '../service/paginate.ts';
import type { Protocol } from '../service/protocols.ts';
import { cleanLine } from '../text.ts';
import type { CommandContext, CommonOptions } from './context.ts';

export interface ServiceOptions extends CommonOptions {
  /** Name of the `services` entry. */
  service?: string;
}

interface ChosenService {
  client: ServiceClient;
  pageSize: number;
  config: Config;
}

const quoted = (names: readonly string[]): string => names.map((name) => `'${cleanLine(name)}'`).join(', ');

/** All protocols of a key, without their assets. */
export const allProtocols = async (client: ServiceClient, signal: AbortSignal): Promise<Protocol[]> => {
  const protocols: Protocol[] = [];
  const pages = walkPages(
    (pageNumber) => client.listProtocols({ pageNumber, hideAssets: true }, signal),
    ({ id, name }) => id ?? name,
  );
  for await (const { items } of pages) protocols.push(...items);
  return protocols;
};

const listAll = (services: readonly ChosenService[], signal: AbortSignal) =>
  Promise.all(services.map(async (service) => ({ service, protocols: await allProtocols(service.client, signal) })));

type Listed = Awaited<ReturnType<typeof listAll>>;

/** The error for a protocol that nobody lists, with the most similar name. */
const unknownProtocol = (listed: Listed, wanted: string): UsageError => {
  const known = listed.flatMap(({ protocols }) => protocols.map(({ name }) => name));
  const names = listed.map(({ service: { client } }) => client.name).join(', ');
  const hint = cleanLine(didYouMean(wanted, known));
  return new UsageError(`${names}: no protocol ${quoted([wanted])} is listed${hint}`);
};

const listingOf = (listed: Listed, wanted: readonly string[]): ChosenService => {
  const services = listed.map(({ service }) => service);
  const byService = listed.map(({ protocols }) => protocols.map(({ name }) => name));
  const missing = wanted.find((name) => !byService.flat().includes(name));
  if (missing !== undefined) throw unknownProtocol(listed, missing);
  const [first, ...others] = services.filter((_, index) => wanted.every((name) => byService[index]?.includes(name)));
  if (first === undefined) throw new UsageError(`no service lists all of ${quoted(wanted)}: ask one after the other`);
  if (others.length === 0) return first;
  const names = [first, ...others].map(({ client }) => client.name).join(', ');
  throw new UsageError(`several services list ${quoted(wanted)}: name one with --service (${names})`);
};

/** The protocol, with the id by which it can be changed. */
const ownedOf = (listed: Listed, wanted: string) => {
  const all = listed.flatMap(({ service: { client }, protocols }) =>
    protocols.map((protocol) => ({ client, protocol })),
  );
  const byId = all.filter(({ protocol }) => protocol.id === wanted);
  const [first, ...others] = byId.length > 0 ? byId : all.filter(({ protocol }) => protocol.name === wanted);
  if (first === undefined) throw unknownProtocol(listed, wanted);
  if (others.length > 0) {
    const ids = [first, ...others].map(
      ({ client, protocol }) => `${cleanLine(protocol.id ?? 'no id')} at ${client.name}`,
    );
    throw new UsageError(`several protocols are called ${quoted([wanted])}: name one by its id (${ids.join(', ')})`);
  }
  const { id } = first.protocol;
  if (id !== undefined) return { ...first, id };
  throw new UsageError(`${first.client.name}: ${quoted([wanted])} is listed without an id, so it cannot be changed`);
};

const required = (protocols: readonly string[]): readonly string[] => {
  if (protocols.some((name) => name.trim() === '')) throw new UsageError('--protocol is empty');
  return protocols;
};

const createServices = (opened: readonly ChosenService[], wanted: string | undefined, signal: AbortSignal) => {
  const names = opened.map(({ client }) => client.name).join(', ');
  const candidates = wanted === undefined ? opened : opened.filter(({ client }) => client.name === wanted);
  const [first, ...others] = candidates;
  if (first === undefined) throw new UsageError(`--service must be one of ${names} (got '${String(wanted)}')`);
  return {
    /** The one that `--service` names, or the only one. Throws a `UsageError`. */
    chosen: (): ChosenService => {
      if (others.length === 0) return first;
      throw new UsageError(`the config has several services: name one with --service (${names})`);
    },
    /** The same; where there are several, the one that lists all these protocols. */
    listing: async (protocols: readonly string[]): Promise<ChosenService> => {
      const asked = required(protocols);
      return others.length === 0 ? first : listingOf(await listAll(candidates, signal), asked);
    },
    /** The one protocol of this id, else of this name. Throws a `UsageError`. */
    owned: async (protocol: string) => {
      required([protocol]);
      return ownedOf(await listAll(candidates, signal), protocol);
    },
  };
};

/** Opens the config's services for the length of `act`. */
export const withServices = async <T>(
  options: ServiceOptions,
  { env, signal }: CommandContext,
  act: (services: ReturnType<typeof createServices>) => Promise<T>,
): Promise<T> => {
  const config = await loadConfig(options.config, env);
  const clients = openServices(config, Date.now);
  const opened = config.services.flatMap(({ name, pageSize }) => {
    const service = clients.get(name);
    return service ? [{ client: service.client, pageSize, config }] : [];
  });
  try {
    return await act(createServices(opened, options.service, signal));
  } finally {
    await Promise.all(opened.map(({ client }) => client.close()));
  }
};
