/** Who gets the news that something is broken, and who is asked about for that. */
import { expect, test } from 'vitest';
import { workingReaders } from '../../../src/features/broken-destinations/message.ts';
import { destinationOf } from '../../support/alerts.ts';

const [ONCALL, CHAT, MAIL] = [
  destinationOf('email', 'oncall@example.com'),
  destinationOf('telegram', '-1001'),
  destinationOf('email', 'a@example.com'),
];
const HOOKS = Array.from({ length: 200 }, (_, n) => destinationOf('webhook', `https://hooks.example.com/${n}`));

const outagesOf = (...broken: string[]) => {
  const asked: string[] = [];
  const get = async (ids: readonly string[]) => {
    asked.push(...ids);
    return new Map(ids.filter((id) => broken.includes(id)).map((id) => [id, {} as never]));
  };
  return { asked, get };
};

test('the first of operators, fallback and people that work, and no webhook is asked about', async () => {
  const audience = { operators: [ONCALL], fallback: [CHAT], routed: [...HOOKS, MAIL] };
  const all = outagesOf();
  expect(await workingReaders(all, audience)).toEqual([ONCALL]);
  expect(all.asked.filter((id) => id.startsWith('webhook'))).toEqual([]);
  expect(await workingReaders(outagesOf(ONCALL.id), audience)).toEqual([CHAT]);
  expect(await workingReaders(outagesOf(ONCALL.id, 'sender-telegram'), audience)).toEqual([MAIL]);
  expect(await workingReaders(outagesOf('sender-email', CHAT.id), audience)).toEqual([]);
});
