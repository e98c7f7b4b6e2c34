/** Opens the Redis that the config names: one of the team's, or the private one under `dataDir`. */
import { hostname } from 'node:os';
import type { Config } from '../config/schema.ts';
import { NoDaemonError, UnavailableError, UsageError } from '../errors.ts';
import { noteServerStop } from '../features/audit/job.ts';
import type { Conditions } from '../ops/conditions.ts';
import { connectRedis, keyPrefix, type RedisClient } from '../redis/connect.ts';
import { holderOf } from '../redis/data-dir-lock.ts';
import { type EmbeddedEnd, type EmbeddedSettings, startEmbeddedRedis } from '../redis/embedded.ts';
import { connectionTo, earlierAddress, embeddedFiles } from '../redis/embedded-server.ts';
import { addressOf, type RedisSettings } from '../redis/settings.ts';
import { troubleOf, watchingTrouble } from '../redis/trouble.ts';
import { clockText } from '../time.ts';
import { endedWithin } from '../waiting.ts';

export interface OpenRedis {
  redis: RedisClient;
  /** Of every key, with its hash tag. */
  prefix: string;
  /** Where it is, for people: without user and password. */
  address: string;
  /** Resolves when the embedded server is gone for good; never for a Redis of the team's. */
  lost: Promise<EmbeddedEnd>;
  close(): Promise<void>;
}

const namedRedis = ({ redis: { prefix: _prefix, ...settings } }: Config): RedisSettings | undefined =>
  (settings.url ?? settings.sentinel ?? settings.cluster) ? settings : undefined;

const never = new Promise<never>(() => {});

type OnRedisError = (error: Error, times: number, address: string) => void;

const open = (config: Config, settings: RedisSettings, role: string, onError: OnRedisError): OpenRedis => {
  const address = addressOf(settings);
  const redis = connectRedis(settings, { role, onError: (error, times) => onError(error, times, address) });
  const close = async () => redis.disconnect();
  return { redis, address, prefix: keyPrefix(config.redis.prefix), lost: never, close };
};

export const openNamedRedis = (config: Config, role: string, onError: OnRedisError): OpenRedis | undefined => {
  const settings = namedRedis(config);
  return settings && open(config, settings, role, onError);
};

interface OwnRedisSettings extends Omit<EmbeddedSettings, 'dataDir' | 'onSilence'> {
  /** Where it is told that the embedded server is silent. */
  conditions?: Pick<Conditions, 'report' | 'over'>;
}

const STOP_NOTE_MS = 1000;

/** For the daemon: starts the embedded server where no Redis is named. */
export const openOwnRedis = async (
  config: Config,
  { conditions, ...settings }: OwnRedisSettings,
): Promise<OpenRedis> => {
  const onError = (error: Error, times: number, address: string): void => {
    // Nobody but us starts a private one, or knows its address.
    const trouble = namedRedis(config) && troubleOf(error, address)?.message;
    settings.log.warn(
      { address, ...(trouble === undefined ? {} : { trouble }), err: error, times },
      'Redis is in trouble',
    );
  };
  const named = openNamedRedis(config, 'daemon', onError);
  if (named) return named;
  const onSilence = (isSilent: boolean): void => {
    if (isSilent) conditions?.report('redis', 'the private Redis lives and does not answer, so it is started again');
    else conditions?.over('redis');
  };
  const embedded = await startEmbeddedRedis({ ...settings, dataDir: config.dataDir, onSilence });
  const opened = open(config, embedded.connection, 'daemon', onError);
  return {
    ...opened,
    lost: embedded.exited,
    close: async () => {
      if (opened.redis.status === 'ready') await endedWithin(noteServerStop(opened), STOP_NOTE_MS);
      opened.redis.disconnect();
      await embedded.stop();
    },
  };
};

const ATTACH_TIMEOUT_MS = 3000;

/** Throws where Redis gives no answer in time: a `UsageError` where it refuses us, else what `silence` makes. */
const demandAnswer = (
  { redis, address }: Pick<OpenRedis, 'redis' | 'address'>,
  silence: (trouble: string) => Promise<UnavailableError>,
): Promise<void> =>
  watchingTrouble(redis, address, async ({ refused, latest }) => {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ATTACH_TIMEOUT_MS);
    const asked = redis.ping().then(
      () => true,
      () => false,
    );
    const answered = await Promise.race([asked, late, refused]).finally(() => clearTimeout(timer));
    if (answered === true) return;
    const trouble = latest();
    if (trouble?.isRefusal) throw new UsageError(`Redis at ${trouble.message}`);
    throw await silence(trouble === undefined ? '' : `: ${trouble.message}`);
  });

/** Why the private Redis is silent. */
const silenceIn = async (dataDir: string): Promise<UnavailableError> => {
  const holder = await holderOf(dataDir);
  if (!holder) return new NoDaemonError(`no daemon runs with dataDir ${dataDir}: tocsin run starts one`);
  const place = holder.host === hostname() ? '' : ` on ${holder.host}`;
  const since = holder.answeredAt === undefined ? '' : `, since ${clockText(holder.answeredAt)}`;
  return new UnavailableError(`daemon ${holder.pid}${place} runs, but its Redis does not answer${since}`);
};

/**
 * For the commands: the Redis a daemon works with now. Throws an `UnavailableError` where it does not answer; a
 * `NoDaemonError`, where no daemon has a private one.
 */
export const attachRedis = async (config: Config): Promise<OpenRedis> => {
  const { dataDir } = config;
  const named = namedRedis(config);
  const address = named ? undefined : await earlierAddress(embeddedFiles(dataDir));
  const settings = named ?? (address && connectionTo(address));
  if (!settings) throw new NoDaemonError(`no daemon has run with dataDir ${dataDir} yet: tocsin run starts one`);
  const opened = open(config, settings, 'command', () => {});
  const silence = async (trouble: string): Promise<UnavailableError> =>
    named ? new UnavailableError(`Redis does not answer${trouble}`) : silenceIn(dataDir);
  await demandAnswer(opened, silence).catch((error: unknown) => {
    opened.redis.disconnect();
    throw error;
  });
  return opened;
};
