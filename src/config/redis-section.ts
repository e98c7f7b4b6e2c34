/** The section of Redis. */
import { z } from 'zod';
import { pairedKey, proxyUrl, tlsFields } from '../schema/connection.ts';
import { count, hostPort, secret } from '../schema/fields.ts';

const nodes = () =>
  z
    .array(hostPort())
    .min(1)
    .describe('host:port of some of them. One that answers is enough; Tocsin learns the others from it.');

const REDIS_URL = {
  pattern: /^(rediss?:\/\/|\/)\S+$/,
  rule: 'must be a redis:// or rediss:// URL, or the path of a unix socket',
};

/** Every key has to be in one slot of a Cluster. With several pairs of braces, Redis may take another one for the hash tag. */
const ONE_HASH_TAG = /^(?!.*\{.*\{)(?!.*\}.*\})/;

/** Where the queue lives. None of `url`, `sentinel`, `cluster`: a private redis-server under `dataDir`. */
export const redisSection = z
  .strictObject({
    url: secret(REDIS_URL)
      .exactOptional()
      .describe(
        'A single Redis: redis:// (or rediss:// for TLS) with user, password and database; or the path of a unix socket. Put a URL with a password into a variable. docs/redis-keys.md has the ACL rule of the user. Left out: a variable TOCSIN_REDIS_URL stands for it, which docker-compose.yml sets.',
      ),
    sentinel: z
      .strictObject({
        name: z.string().min(1).describe('Name of the master that the Sentinels watch.'),
        nodes: nodes(),
        username: z.string().min(1).exactOptional().describe('User at the Sentinels themselves, if they have users.'),
        password: secret().exactOptional().describe('Password of the Sentinels themselves.'),
        tls: z.boolean().exactOptional().describe('TLS to the Sentinels themselves. Left out: what redis.tls says.'),
      })
      .exactOptional()
      .describe('Redis behind Sentinel, instead of url.'),
    cluster: z.strictObject({ nodes: nodes() }).exactOptional().describe('Redis Cluster, instead of url.'),
    username: z
      .string()
      .min(1)
      .exactOptional()
      .describe('User for Redis behind Sentinel or for a Cluster, if it has users. With url, put the user there.'),
    password: secret()
      .exactOptional()
      .describe('Password for Redis behind Sentinel or for a Cluster. With url, put the password there.'),
    tls: z
      .boolean()
      .exactOptional()
      .describe('TLS to Redis behind Sentinel or to a Cluster. With url, write rediss://. Left out: no TLS.'),
    database: count({ min: 0, max: 65_535 })
      .exactOptional()
      .describe('Database of Redis behind Sentinel. With url, put it there; a Cluster has only one. Left out: 0.'),
    ...tlsFields('Redis and its Sentinels'),
    proxy: proxyUrl()
      .exactOptional()
      .describe(
        'http or https URL of the proxy to a single Redis or a Cluster, with user and password if needed; not behind Sentinel. docs/private-networks.md has the rules.',
      ),
    prefix: z
      .string()
      .regex(/^[\w.:{}-]{1,64}$/, { error: 'must be 1 to 64 letters, digits or any of _ - . : { }', abort: true })
      .regex(ONE_HASH_TAG, { error: 'may hold one pair of braces at most: Redis takes the first for the hash tag' })
      .default('tocsin')
      .describe(
        'Prefix of every key in Redis. Change it to run separate systems on one Redis. Daemons with the same prefix share their work.',
      ),
  })
  .superRefine(pairedKey);
