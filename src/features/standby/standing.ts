/**
 * Of daemons with different configs one config counts: the one that was put into force last, as a record in Redis says. A
 * daemon with another one stands by. It goes on with its own when nobody works by the one in force any more.
 */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { type ConfigPrint, keysBetween, printOfConfig } from '../../config/print.ts';
import type { Config } from '../../config/schema.ts';
import type { RedisClient } from '../../redis/connect.ts';
import type { Member } from '../../redis/members.ts';

/** `works`: its config is in force. */
export type Role = 'works' | 'stands by';

interface InForce {
  print: string;
  /** When it was put into force, in epoch milliseconds; later than the one before it, whatever the clocks say. */
  at: number;
}

export const createConfigRecord = (redis: RedisClient, prefix: string) => {
  const key = `${prefix}:config`;
  return {
    /** What is in force, and the key of its prints; undefined where Redis has none. */
    get: async (): Promise<{ secret: string | undefined; inForce: InForce | undefined }> => {
      const [secret, print, at] = await redis.hmget(key, 'secret', 'print', 'at');
      return { secret: secret ?? undefined, inForce: print && at ? { print, at: Number(at) } : undefined };
    },
    /** The key of all prints, made where there is none. */
    secret: async (): Promise<string> => {
      await redis.hsetnx(key, 'secret', randomBytes(32).toString('base64url'));
      return (await redis.hget(key, 'secret')) ?? '';
    },
    put: async ({ print, at, host, keys }: InForce & { host: string; keys: ConfigPrint['keys'] }): Promise<void> => {
      await redis.hset(key, { print, at, host, keys: JSON.stringify(keys) });
    },
    /** Who put it into force, and the prints of its keys. */
    details: async (): Promise<{ host: string; keys: ConfigPrint['keys'] }> => {
      const [host, keys] = await redis.hmget(key, 'host', 'keys');
      return { host: host ?? 'another daemon', keys: JSON.parse(keys ?? '{}') as ConfigPrint['keys'] };
    },
  };
};

type ConfigRecord = ReturnType<typeof createConfigRecord>;

interface StandingDependencies {
  config: Config;
  record: ConfigRecord;
  host: string;
  role: Role;
  /** Since when this daemon's config is in force, where it was before. */
  since: number | undefined;
  /** Nobody has to work by the config in force for so long until this one takes over. */
  vacantMs: number;
  /** This config does not count any more. Called again and again. */
  onSuperseded(): void;
  /** It counts again, and the daemon stands by. Called again and again. */
  onCounts(): void;
  /** Called each time while it stands by: who put the config in force there, and the keys that differ. */
  onStandsBy(host: string, differs: readonly string[]): void;
  log: Pick<Logger, 'error' | 'warn'>;
  monotonic(): number;
  now(): number;
}

/** Of one generation of a daemon. */
export const createStanding = (dependencies: StandingDependencies) => {
  const { config, record, host, role, vacantMs, onSuperseded, onCounts, onStandsBy, log, monotonic, now } =
    dependencies;
  let own: ConfigPrint & { secret: string } = { secret: '', print: '', keys: {} };
  let since = dependencies.since;
  let vacantSince: number | undefined;
  let saidOf: string | undefined;

  /** What is in force, with our own prints by the same key: a Redis that lost its data gets another. */
  const look = async (): Promise<InForce | undefined> => {
    const { secret: found, inForce } = await record.get();
    const secret = found ?? (await record.secret());
    if (secret !== own.secret) own = { secret, ...printOfConfig(config, secret) };
    return inForce;
  };

  const put = async (): Promise<void> => {
    since ??= now();
    await record.put({ ...own, at: since, host });
  };

  const standBy = async ({ print }: InForce): Promise<void> => {
    const { host: by, keys } = await record.details();
    const differs = keysBetween(own.keys, keys);
    if (saidOf !== print) {
      log.error(
        { daemonHost: by, differs },
        'another config is in force: this daemon stands by, and neither reads nor sends',
      );
    }
    saidOf = print;
    onStandsBy(by, differs);
  };

  const isVacant = (members: readonly Member[], print: string | undefined): boolean => {
    if (members.some((member) => member.config === print)) vacantSince = undefined;
    else vacantSince ??= monotonic();
    return vacantSince !== undefined && monotonic() - vacantSince >= vacantMs;
  };

  const lookWaiting = async (members: readonly Member[], inForce: InForce | undefined): Promise<void> => {
    if (inForce?.print === own.print) return onCounts();
    if (inForce !== undefined && (since ?? 0) > inForce.at) return onCounts();
    if (isVacant(members, inForce?.print)) {
      log.warn({}, 'nobody works by the config in force any more; this daemon takes over with its own');
      return onCounts();
    }
    if (inForce !== undefined) await standBy(inForce);
  };

  return {
    role,
    /** Before its work begins: puts this config into force, unless it is. */
    begin: async (): Promise<void> => {
      const inForce = await look();
      if (role === 'stands by') return;
      if (inForce?.print === own.print) since = inForce.at;
      else {
        since ??= Math.max(now(), (inForce?.at ?? 0) + 1);
        await put();
      }
    },
    /** To be called with every beat. */
    look: async (members: readonly Member[]): Promise<void> => {
      const inForce = await look();
      if (role === 'stands by') await lookWaiting(members, inForce);
      else if (inForce?.print === own.print) since = Math.max(since ?? 0, inForce.at);
      else if (inForce === undefined || (since ?? 0) > inForce.at) await put();
      else onSuperseded();
    },
    /** Whether this config is in force at this moment. */
    counts: async (): Promise<boolean> => (await look())?.print === own.print,
    /** Of this config, see `Member`. */
    print: (): string => own.print,
    since: (): number | undefined => since,
  };
};

export type Standing = ReturnType<typeof createStanding>;
