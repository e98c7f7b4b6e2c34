/** Fingerprints of a config: they tell apart what decides about alerts, and nothing of a value. */
import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { decides, keysBetween, printOfConfig } from '../../src/config/print.ts';
import { configTextOf, SANDBOX, type Tree } from '../scenario/config.ts';

const SECRET = 'xoxb-a-token-of-nobody';

const printOf = async (changes: Tree, key = 'key') => {
  const text = await configTextOf(['slack', 'webhook'], { channels: { slack: { botToken: SECRET } } }, changes);
  const environment = {
    ...{ TOCSIN_SANDBOX_SERVICE: 'http://127.0.0.1:1/api', TOCSIN_SANDBOX_KEY: 'k', TOCSIN_DATA_DIR: '/tmp/x' },
    ...{
      TOCSIN_SANDBOX_SLACK: 'http://127.0.0.1:1/',
      TOCSIN_SANDBOX_SLACK_TOKEN: 't',
      TOCSIN_OPS_LISTEN: '127.0.0.1:0',
    },
    ...{ WEBHOOK_SECRET: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0' },
  };
  return printOfConfig(parseConfig(text, 'tocsin.yaml', environment), key);
};

test('the same config has the same print, and what a daemon has for itself does not count', async () => {
  const [one, other] = await Promise.all([
    printOf({}),
    printOf({
      ops: { listen: '127.0.0.1:9' },
      log: { level: 'debug' },
      dataDir: '/elsewhere',
      poll: { overlap: '9s' },
    }),
  ]);
  expect(other).toEqual(one);
  expect((await printOf({}, 'another key')).print).not.toBe(one.print);
});

test('the way that a daemon has to a service or a provider may be its own', async () => {
  const own: Tree = {
    services: [{ ...SANDBOX, baseUrl: 'http://127.0.0.1:2/api', timeout: '3s', pageSize: 50 }],
    channels: { slack: { apiUrl: 'http://127.0.0.1:2/', concurrency: 3 } },
  };
  expect(await printOf(own)).toEqual(await printOf({ services: [SANDBOX] }));
  expect(await printOf({ services: [{ ...SANDBOX, apiKey: 'another' }] })).not.toEqual(await printOf({}));
});

test.each<[string, Tree]>([
  ['alerts.assessments', { alerts: { assessments: ['critical', 'suspecious'] } }],
  ['channels.slack', { channels: { slack: { botToken: 'xoxb-another' } } }],
  ['channels.slack', { channels: { slack: null } }],
  ['fallback.after', { fallback: { after: '17s', channels: [{ name: 'slack', contacts: ['C1'] }] } }],
  ['protocols.exclude', { protocols: { exclude: ['Vault'] } }],
  ['destinations.gate', { destinations: { gate: true } }],
  ['timeZone', { timeZone: 'Europe/Berlin' }],
])('what differs is named by key: %s', async (key, changes) => {
  const [one, other] = await Promise.all([printOf({}), printOf(changes)]);
  expect(other.print).not.toBe(one.print);
  const differs = keysBetween(one.keys, other.keys);
  expect(differs).toContain(key);
  expect(differs.every((each) => each.split('.')[0] === key.split('.')[0])).toBe(true);
});

test('no value stands in it', async () => {
  const text = JSON.stringify(await printOf({}));
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain('127.0.0.1');
});

test('a change of what each daemon has for itself puts no config into force', () => {
  expect([['ops', 'listen'], ['log'], ['poll', 'interval'], ['services', 'main', 'baseUrl']].map(decides)).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect([['channels', 'slack'], ['mutes']].map(decides)).toEqual([true, true]);
});
