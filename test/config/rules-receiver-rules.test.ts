/** What a format of webhooks needs beside it is found when the config is read, with its line. */
import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/errors.ts';

const ROUTING_KEY = 'R0123456789abcdefghijklmnopqrstu';

const problemsOf = (receiver: string): string[] => {
  const text = [
    'services: [{ name: main, baseUrl: "https://monitor.example.com/api", apiKey: key }]',
    'channels:',
    '  webhook:',
    '    receivers:',
    `      hooks.example.com: ${receiver}`,
  ].join('\n');
  try {
    parseConfig(text, 'tocsin.yaml', {});
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
};

const PLACE = 'channels.webhook.receivers.hooks.example.com';

test.each([
  '{}',
  '{ format: standard }',
  '{ format: cloudevents, basicAuth: { user: u, pass: p } }',
  `{ format: pagerduty, routingKey: ${ROUTING_KEY} }`,
  '{ format: opsgenie, apiKey: a-long-enough-key }',
  '{ format: opsgenie, headers: { Authorization: GenieKey abc } }',
  '{ format: alertmanager }',
])('takes %s', (receiver) => {
  expect(problemsOf(receiver)).toEqual([]);
});

test.each([
  ['{ format: pagerduty }', /^tocsin\.yaml:5:36: .*\.format: pagerduty needs routingKey beside it/],
  ['{ format: opsgenie }', /^tocsin\.yaml:5:36: .*\.format: opsgenie needs apiKey beside it/],
  ['{ format: opsgenie, headers: { x-key: abc } }', /opsgenie needs apiKey/],
  [`{ routingKey: ${ROUTING_KEY} }`, /\.routingKey: is only for format pagerduty/],
  ['{ format: alertmanager, apiKey: a-long-enough-key }', /\.apiKey: is only for format opsgenie/],
  ['{ format: pagerduty, routingKey: short }', /\.routingKey: must be the 32 letters and digits .*\(got a text\)/],
  ['{ format: pager }', /\.format: must be one of standard, .*pagerduty/],
  ['{ basicAuth: { user: "a:b", pass: p } }', /\.user: must have 1 to 200 characters, none of them a colon/],
  [
    '{ headers: { authorization: Bearer x }, basicAuth: { user: u, pass: p } }',
    /hooks\.example\.com: must have only one of headers\.authorization and basicAuth/,
  ],
])('%s is a problem', (receiver, said) => {
  const problems = problemsOf(receiver);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(said);
  expect(problems[0]).toContain(PLACE);
});
