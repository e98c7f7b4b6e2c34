/** Rules over the keys of one entry of `channels.webhook.receivers`: each format with what it needs, and no other. */
import { type Breach, has, mapOf, type Values } from './breach.ts';
import type { Path } from './display.ts';

const isAuthorization = (name: string): boolean => name.toLowerCase() === 'authorization';

const setsAuthorization = ({ headers }: Values): boolean => Object.keys(mapOf(headers)).some(isAuthorization);

/** What belongs to one format alone, and what to say where that format does without. */
const KEYS = [
  {
    key: 'routingKey',
    format: 'pagerduty',
    needs: 'pagerduty needs routingKey beside it: the integration key of the Events API v2',
    isGiven: (receiver: Values) => has(receiver, 'routingKey'),
  },
  {
    key: 'apiKey',
    format: 'opsgenie',
    needs: 'opsgenie needs apiKey beside it: the key of an API integration',
    isGiven: (receiver: Values) => has(receiver, 'apiKey') || setsAuthorization(receiver),
  },
] as const;

const ofOne = (path: Path, receiver: Values): Breach[] => {
  const { format } = receiver;
  const authorizing = [
    ...(setsAuthorization(receiver) ? ['headers.authorization'] : []),
    ...['basicAuth', 'apiKey'].filter((key) => has(receiver, key)),
  ];
  return [
    ...KEYS.filter((one) => one.format === format && !one.isGiven(receiver)).map(({ needs }) => ({
      path: [...path, 'format'],
      rule: needs,
    })),
    ...KEYS.filter((one) => one.format !== format && has(receiver, one.key)).map((one) => ({
      path: [...path, one.key],
      rule: `is only for format ${one.format}`,
    })),
    ...(authorizing.length > 1 ? [{ path, rule: `must have only one of ${authorizing.join(' and ')}` }] : []),
  ];
};

export const receiverBreaches = (config: Values): Breach[] =>
  Object.entries(mapOf(mapOf(mapOf(config.channels).webhook).receivers)).flatMap(([name, receiver]) =>
    ofOne(['channels', 'webhook', 'receivers', name], mapOf(receiver)),
  );
