/**
 * Notices that another Redis server answers than before: it was started again, or a replica took its place. Either may
 * lack what was acknowledged last, with `appendfsync everysec` too.
 */
import type { RedisClient } from '../../redis/connect.ts';
import { SERVER_FUNCTION } from '../../redis/server-id.ts';

export interface ServerChangeDependencies {
  redis: RedisClient;
  prefix: string;
  /** Called with the id of a server that was not looked at yet; again where it throws. */
  onChanged(server: string): Promise<void>;
}

/** KEYS[1]: the server that was looked at last. Gives that and the present one. */
const LOOK = `${SERVER_FUNCTION}
return { redis.call('GET', KEYS[1]) or '', server() }`;

export const createServerChange = ({ redis, prefix, onChanged }: ServerChangeDependencies) => {
  const key = `${prefix}:server`;
  return {
    /** One command, where nothing has changed. A server that does not say who it is never changes. */
    check: async (): Promise<void> => {
      const [known = '', present = ''] = (await redis.eval(LOOK, 1, key)) as string[];
      if (present === '' || present === known) return;
      // An empty Redis has nothing to look for: the state file says where reading goes on.
      if (known !== '') await onChanged(present);
      await redis.set(key, present);
    },
  };
};
