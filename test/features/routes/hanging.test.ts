/** What hangs on one token or mail server is said, where nothing else would help. */
import { expect, test } from 'vitest';
import { hangingOn } from '../../../src/features/routes/hanging.ts';
import { createRouteReview } from '../../../src/features/routes/review.ts';
import { routeSettings } from '../../../src/features/routes/routes.ts';
import { read, SERVICE } from '../../config/samples.ts';

const CHANNELS = `channels:
  slack: { botToken: xoxb-1 }
  email: { from: "t@example.com", smtp: { host: 127.0.0.1 } }
  webhook: {}
`;
const SLACK = { name: 'slack', contacts: ['C0000001'] };
const MAIL = { name: 'email', contacts: ['a@example.com'] };
const HOOK = { name: 'webhook', url: 'https://hooks.example.com/x' };
const FALLBACK = 'fallback: { channels: [{ name: slack, contacts: [C0000009] }] }\n';

const said = (more: string, protocols: Record<string, object[]>): string[] => {
  const config = read(`${SERVICE}\n${CHANNELS}${more}`);
  const review = createRouteReview(routeSettings(config), { warn: () => {} });
  const listed = Object.entries(protocols).map(
    ([name, channels]) => [name, { name, channels: channels as never }] as const,
  );
  review.review('main', new Map(listed));
  return hangingOn(config, review);
};

test('what people have of a protocol, and the fallback, by one token', () => {
  const protocols = { Vault: [SLACK, HOOK], Bridge: [SLACK], Pool: [SLACK, MAIL], Feed: [HOOK] };
  expect(said(FALLBACK, protocols)).toEqual([
    'Everything of “Vault”, “Bridge” and the fallback hangs on one bot token (channels.slack.botToken): list a channel of another kind under fallback or watchdog.channels',
  ]);
});

test('nothing where the fallback, or who stands in for it, hangs on something else', () => {
  const protocols = { Vault: [SLACK] };
  const watchdog = 'watchdog: { channels: [{ name: email, contacts: [ops@example.com] }] }\n';
  expect(said(`${FALLBACK}${watchdog}`, protocols)).toEqual([]);
  expect(said('fallback: { channels: [{ name: webhook, url: "https://pager.example.com/x" }] }\n', protocols)).toEqual(
    [],
  );
  expect(said(FALLBACK, { Pool: [MAIL] })).toEqual([]);
});

test('of each token by itself where there is no fallback', () => {
  expect(said('', { Vault: [SLACK], Bridge: [MAIL], Pool: [SLACK, MAIL] })).toEqual([
    expect.stringMatching(
      /^Everything of “Vault” hangs on one bot token \(channels\.slack\.botToken\), and there is no fallback: /,
    ),
    expect.stringMatching(
      /^Everything of “Bridge” hangs on one mail relay \(channels\.email\.smtp\), and there is no fallback: /,
    ),
  ]);
});

test('by the config alone: of protocols that it routes, and of every one where people have one kind only', () => {
  const overrides = 'protocols: { overrides: { Vault: { channels: [{ name: slack, contacts: [C0000001] }] } } }\n';
  const byConfig = (text: string) => hangingOn(read(`${SERVICE}\n${text}`));
  expect(byConfig(`${CHANNELS}${FALLBACK}`)).toEqual([]);
  expect(byConfig(`${CHANNELS}${FALLBACK}${overrides}`)).toEqual([
    expect.stringMatching(
      /^Everything of “Vault” and the fallback hangs on one bot token \(channels\.slack\.botToken\): /,
    ),
  ]);
  expect(byConfig(`channels: { slack: { botToken: xoxb-1 } }\n${FALLBACK}`)).toEqual([
    expect.stringMatching(/^Everything, the fallback included, hangs on one bot token \(channels\.slack\.botToken\): /),
  ]);
});
