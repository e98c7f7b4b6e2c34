/** The Redis user as docs/redis-keys.md gives it to operators. */
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

const DOCUMENT = new URL('../../docs/redis-keys.md', import.meta.url);

export const documentText = (): string => readFileSync(DOCUMENT, 'utf8');

/** The arguments of ACL SETUSER; `prefix` with its braces. */
export const documentedUser = (prefix: string, password: string): string[] => {
  const [, command = ''] = /redis-cli ACL SETUSER ([^`]+)/.exec(documentText()) ?? [];
  const words = command.replaceAll(/[\\']/g, '').trim().split(/\s+/);
  return words.map((word) => word.replace('PASSWORD', password).replace('{tocsin}', prefix));
};

interface Refusal {
  object: string;
  reason: string;
}

/** What Redis refused anybody so far. */
export const refusals = async (redis: Redis): Promise<Refusal[]> => {
  const entries = (await redis.call('ACL', 'LOG', '1000')) as unknown[][];
  const named = entries.map((entry) => (Array.isArray(entry) ? entry : Object.entries(entry).flat()));
  const fields = named.map((entry) =>
    Object.fromEntries(entry.map((value, index) => [String(value), entry[index + 1]])),
  );
  const entriesOf = fields.map((entry) => ({ object: String(entry.object), reason: String(entry.reason) }));
  // Redis 7.2 and newer have it; ioredis does not mind.
  return entriesOf.filter(({ object }) => object !== 'client|setinfo');
};
