/** A fake world in one process: the monitoring service, a receiver of each kind, and traffic between them. */
import { producedEvent, receivedEvent, type SandboxEvent } from './events.ts';
import { createListeners } from './listeners.ts';
import type { Received } from './receivers/received.ts';
import {
  createReceivers,
  publicUrl,
  type ReceiverAddresses,
  type ReceiverPorts,
  type ReceiversOptions,
  type SandboxReceivers,
} from './receivers/receivers.ts';
import type { ProtocolSeed } from './service/model.ts';
import type { Quirks } from './service/quirks.ts';
import { createSandboxService, type SandboxService } from './service/service.ts';
import { createTraffic, type Traffic, type TrafficItem, type TrafficMix } from './traffic.ts';
import { createChannels, createWorld } from './world.ts';

export interface SandboxOptions extends ReceiversOptions {
  /** Of protocols, traffic and ids. Default 1. */
  seed?: number | string;
  /** What is left out gets a free port. */
  ports?: ReceiverPorts & { service?: number };
  /** Default `sandbox-key`. */
  apiKey?: string;
  /** Of that key. Default: five made-up ones. Those without `channels` get one of each kind, at our receivers. */
  protocols?: readonly ProtocolSeed[];
  /** Further keys with protocols of their own. */
  moreKeys?: readonly { apiKey: string; protocols?: readonly ProtocolSeed[] }[];
  quirks?: Partial<Quirks>;
}

/** Where everything is and what opens it. */
export interface SandboxAddresses extends ReceiverAddresses {
  /** `url` is the base URL of the service's API. */
  service: { url: string; apiKey: string };
}

interface StartTrafficOptions extends Partial<TrafficMix> {
  /** Time between two inspections. */
  everyMs: number;
}

export interface Sandbox {
  start(): Promise<SandboxAddresses>;
  /** Ends traffic and every connection. */
  stop(): Promise<void>;
  service: SandboxService;
  receivers: SandboxReceivers;
  /** Accepted messages of all receivers, oldest first. */
  received(): Received[];
  /** One step of traffic now. */
  produce(mix?: Partial<TrafficMix>): void;
  /** Replaces traffic that runs. */
  startTraffic(options: StartTrafficOptions): void;
  stopTraffic(): void;
  /** Gives a function that ends it. */
  onEvent(listener: (event: SandboxEvent) => void): () => void;
}

/** Lets traffic flow into the service, by the step or by the clock. */
const createTrafficRunner = (traffic: Traffic, service: SandboxService) => {
  let timer: NodeJS.Timeout | undefined;
  const produce = (mix?: Partial<TrafficMix>): TrafficItem[] => {
    const items = traffic.next(mix);
    for (const item of items) {
      if (item.source === 'inspections') service.insertInspection(item.seed);
      else service.insertNotification(item.seed);
    }
    return items;
  };
  const stop = (): void => clearInterval(timer);
  const start = ({ everyMs, ...mix }: StartTrafficOptions): void => {
    stop();
    timer = setInterval(() => produce(mix), everyMs);
  };
  return { produce, start, stop };
};

/** Where a POST makes one critical finding, beside the service's API. */
export const CRITICAL = '/critical';

/** Until its protocols know where the receivers are, they have no channels. */
const withoutChannels = (protocol: ProtocolSeed): boolean => protocol.channels === undefined;

export const createSandbox = (options: SandboxOptions = {}): Sandbox => {
  const { seed = 1, apiKey = 'sandbox-key', moreKeys = [], ports = {}, host, quirks, now } = options;
  const keys = [{ apiKey, protocols: options.protocols ?? createWorld(seed) }, ...moreKeys];
  const owned = keys.flatMap((key) => (key.protocols ?? []).map((protocol) => ({ ...protocol, apiKey: key.apiKey })));
  const critical = () => {
    const [item] = traffic.produce({ critical: 1, hostile: 0 });
    return item?.source === 'inspections' ? { protocol: item.seed.protocol, txHash: item.seed.txHash } : {};
  };
  const service = createSandboxService({
    seed,
    control: ({ method, path }) => (method === 'POST' && path === CRITICAL ? critical() : undefined),
    apiKeys: keys,
    port: ports.service ?? 0,
    ...(host !== undefined && { host }),
    ...(quirks && { quirks }),
    ...(now && { now }),
  });
  const receivers = createReceivers(options);
  const traffic = createTrafficRunner(createTraffic({ seed, protocols: owned, ...(now && { now }) }), service);
  const listeners = createListeners<SandboxEvent>();
  let unlinked = owned.filter(withoutChannels);

  service.onProduced((produced) => listeners.emit(producedEvent(produced)));
  receivers.onReceived((message) => listeners.emit(receivedEvent(message)));

  const linkChannels = (webhookUrl: string): void => {
    for (const [index, { name, apiKey: key }] of unlinked.entries())
      service.replaceChannels({ protocol: name, apiKey: key }, createChannels(name, index, webhookUrl));
    unlinked = [];
  };

  const stop = async (): Promise<void> => {
    traffic.stop();
    await Promise.all([service.stop(), receivers.stop()]);
  };

  const start = async (): Promise<SandboxAddresses> => {
    const addresses = await receivers.start();
    linkChannels(addresses.webhook.url);
    const { url } = await service.start();
    return { ...addresses, service: { url: publicUrl(url, options.publicHost), apiKey } };
  };

  return {
    start: async () => {
      try {
        return await start();
      } catch (error) {
        await stop();
        throw error;
      }
    },
    stop,
    service,
    receivers: receivers.byKind,
    received: receivers.received,
    produce: traffic.produce,
    startTraffic: traffic.start,
    stopTraffic: traffic.stop,
    onEvent: listeners.add,
  };
};
