/** `check --online`: asks every service, Redis and channel of the config whether it answers. Starts and sends nothing. */
import { type ChannelKind, type Destination, onceEach } from '../alert.ts';
import { webAddress } from '../channels/address.ts';
import type { Channel } from '../channels/channel.ts';
import { createPresentation } from '../channels/content/presentation.ts';
import { openConfiguredChannels } from '../channels/open.ts';
import { atOnce } from '../chunks.ts';
import type { Config } from '../config/schema.ts';
import { messageOf, ServiceError } from '../errors.ts';
import { hangingOn } from '../features/routes/hanging.ts';
import type { RouteReview } from '../features/routes/review.ts';
import { testAlert } from '../features/sample/sample.ts';
import type { ListedProtocol } from '../item.ts';
import { createNameFilter } from '../poll/catalog.ts';
import { checkRedis } from '../redis/check.ts';
import { checkDataDir } from '../redis/data-dir-lock.ts';
import { EMBEDDED_BINARY } from '../redis/embedded.ts';
import { installedVersion } from '../redis/embedded-server.ts';
import { listProtocols } from '../service/listing.ts';
import { openServices, type Service } from '../service/open.ts';
import { cleanLine, counted, nameText } from '../text.ts';
import { iso } from '../time.ts';
import { openNamedRedis } from './redis.ts';
import { openReview } from './view.ts';

export interface OnlineFinding {
  /** `service NAME`, `redis`, `channel KIND`, or `destination KIND LABEL` of one that the guard refuses. */
  subject: string;
  ok: boolean;
  /** It works, and somebody may still want to know. */
  isNote?: true;
  detail: string;
}

/** How a line begins that shows it. */
export const markOf = ({ ok, isNote }: OnlineFinding): string => (isNote === true ? 'note' : ok ? 'ok  ' : 'FAIL');

const TIMEOUT_MS = 15_000;
/** A long listing takes many requests, each with a time limit of its own. */
const LISTING_TIMEOUT_MS = 60_000;

const within = (signal: AbortSignal, timeoutMs = TIMEOUT_MS): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);

const ask = async (
  subject: string,
  question: (signal: AbortSignal) => Promise<string>,
  signal: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<OnlineFinding> => {
  try {
    const detail = await question(within(signal, timeoutMs));
    return { subject, ok: true, detail };
  } catch (error) {
    return { subject, ok: false, detail: messageOf(error) };
  }
};

/** Goes on from who lists these. */
export const listedText = ([first, ...others]: readonly { name: string }[]): string =>
  first === undefined
    ? 'answers, but lists no protocol'
    : `answers and lists ${counted(others.length + 1, 'protocol')}, such as ${nameText(first.name)}`;

/** A service that answers, and has no such path, is often asked at a part of its address. */
const explainMissing = (error: unknown): never => {
  if (!(error instanceof ServiceError) || error.reason !== 'missing') throw error;
  throw new Error(`${error.message}; baseUrl must be the whole address of the API, often with a path like /api`);
};

/** Lists every service's protocols; `review` takes in those that the config includes. */
const askServices = async (config: Config, review: RouteReview, signal: AbortSignal): Promise<OnlineFinding[]> => {
  const { include, exclude } = config.protocols;
  const isIncluded = createNameFilter(include, exclude);
  const services = [...openServices(config, Date.now)];

  const list = async (name: string, service: Service, each: AbortSignal): Promise<string> => {
    const { protocols: listed, unfinished } = await listProtocols(service, each).catch(explainMissing);
    const included = listed.filter((protocol) => isIncluded(protocol.name));
    review.review(name, new Map(included.map((protocol) => [protocol.name, protocol])));
    if (unfinished !== undefined) throw unfinished;
    return listedText(listed);
  };

  const findings = await Promise.all(
    services.map(([name, service]) =>
      ask(`service ${name}`, (each) => list(name, service, each), signal, LISTING_TIMEOUT_MS),
    ),
  );
  await Promise.all(services.map(([, { client }]) => client.close()));
  return findings;
};

const askRedis = async (config: Config, signal: AbortSignal): Promise<OnlineFinding[]> => {
  const opened = openNamedRedis(config, 'check', () => {});
  if (!opened) {
    const embedded = async () => {
      await checkDataDir(config.dataDir);
      return `private, under ${config.dataDir}; redis-server ${await installedVersion(EMBEDDED_BINARY)}`;
    };
    return [await ask('redis', embedded, signal)];
  }
  const findings = await checkRedis(opened.redis, opened);
  await opened.close();
  if (findings.length === 0) return [{ subject: 'redis', ok: true, detail: 'answers and keeps its data safely' }];
  return findings.map(({ message }) => ({ subject: 'redis', ok: false, detail: message }));
};

const unsetKinds = (review: RouteReview): OnlineFinding[] =>
  [...review.unset()].map(([kind, protocols]) => ({
    subject: `channel ${cleanLine(kind)}`,
    ok: true,
    isNote: true,
    detail: `not set up, so nothing is sent there, though ${counted(protocols, 'protocol has', 'protocols have')} such a channel`,
  }));

/** What one token or mail server carries alone. */
const hangingTogether = (config: Config, review: RouteReview): OnlineFinding[] =>
  hangingOn(config, review.destinations().length === 0 ? undefined : review).map((detail) => ({
    ...{ subject: 'destinations', ok: true, isNote: true, detail },
  }));

/** Web addresses of destinations that the guard blocks. */
const refusedOf = async (
  destinations: readonly Destination[],
  judge: (url: string) => Promise<void>,
  signal: AbortSignal,
): Promise<OnlineFinding[]> => {
  const judged = destinations
    .filter(({ address }) => webAddress(address) !== undefined)
    .map(({ kind, label, address }) =>
      ask(`destination ${kind} ${label}`, () => judge(address).then(() => 'may be sent to'), signal),
    );
  return (await Promise.all(judged)).filter(({ ok }) => !ok);
};

const withChannels = async <T>(
  config: Config,
  use: (opened: Awaited<ReturnType<typeof openConfiguredChannels>>) => Promise<T>,
): Promise<T> => {
  const opened = await openConfiguredChannels(config, Date.now);
  return use(opened).finally(opened.close);
};

export const askEverything = async (config: Config, signal: AbortSignal): Promise<OnlineFinding[]> => {
  const { review, named } = openReview(config, { warn: () => {} });
  return withChannels(config, async ({ channels, judge }) => {
    const answers = await Promise.all([
      askServices(config, review, signal),
      askRedis(config, signal),
      Promise.all(channels.map((channel) => ask(`channel ${channel.kind}`, (each) => channel.verify(each), signal))),
    ]);
    const refused = await refusedOf(onceEach([...review.destinations(), ...named]), judge, signal);
    return [...answers.flat(), ...unsetKinds(review), ...hangingTogether(config, review), ...refused];
  });
};

/** What the only service of a config lists. Throws a `ServiceError`, also where the listing does not end. */
export const listOnce = async (config: Config, signal: AbortSignal): Promise<ListedProtocol[]> => {
  const [service] = openServices(config, Date.now).values();
  if (service === undefined) return [];
  try {
    const { protocols, unfinished } = await listProtocols(service, within(signal, LISTING_TIMEOUT_MS));
    if (unfinished !== undefined) throw unfinished;
    return protocols;
  } finally {
    await service.client.close();
  }
};

const openedKind = (channels: readonly Channel[], kind: ChannelKind): Channel => {
  const channel = channels.find((one) => one.kind === kind);
  if (channel === undefined) throw new Error(`the config does not set up ${kind}`);
  return channel;
};

/** One kind alone. Throws a `DeliveryError`. */
export const verifyKind = (config: Config, kind: ChannelKind, signal: AbortSignal): Promise<string> =>
  withChannels(config, ({ channels }) => openedKind(channels, kind).verify(within(signal)));

/** Which of these the guard refuses as they are no public https addresses, which the config can allow. */
export const closedIn = (
  config: Config,
  destinations: readonly Destination[],
  signal: AbortSignal,
): Promise<Destination[]> =>
  withChannels(config, async ({ judge }) => {
    const refused = await Promise.all(destinations.map((one) => refusedOf([one], judge, signal)));
    return destinations.filter((_, index) => /channels\.webhook\.allow/.test(refused[index]?.[0]?.detail ?? ''));
  });

/** Sends a marked sample at once, past the queue. Throws a `DeliveryError`. */
export const sendSample = (config: Config, destination: Destination, signal: AbortSignal): Promise<void> =>
  withChannels(config, async ({ channels }) => {
    const channel = openedKind(channels, destination.kind);
    const context = { sentAt: iso(Date.now()), format: 'rich', presentation: createPresentation(config) } as const;
    const messages = atOnce(channel.compose({ destination, alerts: [testAlert(config)] }, context));
    for (const message of messages) await channel.send(message, within(signal));
  });
