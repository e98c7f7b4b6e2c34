/** A Redis of one seed that can be set back to an older copy, or emptied, as a failover does; then it has another run id. */
import type { Redis } from 'ioredis';
import { expect } from 'vitest';

export interface SeedRedis {
  /** As `redis`; its scripts see the run id of this seed. */
  redis: Redis;
  save(): Promise<void>;
  /** To what was saved last; in the meantime writes of others may come. */
  failOver(): Promise<void>;
  /** By a command: the server is the same. */
  empty(): Promise<void>;
}

const INFO = "redis.pcall('INFO', 'server')";

/** `isSilent`: it does not say who it is, as where INFO is refused. */
export const openSeedRedis = (redis: Redis, prefix: string, isSilent: boolean): SeedRedis => {
  let run = 1;
  let saved: [key: string, value: Buffer][] = [];
  const seeing = (script: string): string => {
    if (!script.includes('server()')) return script;
    expect(script).toContain(INFO);
    return script.replace(INFO, isSilent ? 'false' : `'run_id:run${run}'`);
  };
  const keys = (): Promise<string[]> => redis.keys(`${prefix.replace(/[{}]/g, '?')}:*`);
  const replace = async (by: typeof saved): Promise<void> => {
    const batch = redis.multi();
    for (const key of await keys()) batch.del(key);
    for (const [key, value] of by) batch.restore(key, 0, value);
    await batch.exec();
  };
  return {
    redis: new Proxy(redis, {
      get: (target, name) => {
        if (name === 'eval')
          return (script: string, count: number, ...rest: string[]) => target.eval(seeing(script), count, ...rest);
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }),
    save: async () => {
      const found = (await keys()).filter((key) => !key.includes(':lock:'));
      saved = await Promise.all(
        found.map(async (key): Promise<[string, Buffer]> => [key, await redis.dumpBuffer(key)]),
      );
    },
    failOver: async () => {
      run += 1;
      await replace(saved);
    },
    empty: () => replace([]),
  };
};
