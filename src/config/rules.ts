/**
 * Rules that span several keys. They read the values leniently, before the schema has checked them, so that the operator
 * gets every problem in one run.
 */

import { CHANNEL_KINDS, type ChannelKind, isChannelKind } from '../alert.ts';
import { GROUP_WAIT_DEFAULT } from '../channels/email/config.ts';
import { kindFacts } from '../channels/registry.ts';
import { parseDuration, parseHostPort } from '../schema/fields.ts';
import { muteBreaches } from './mutes.ts';
import { POLL_DEFAULTS } from './poll-section.ts';
import { type Breach, has, listOf, mapOf, type Path, type Values } from './problems.ts';
import { redisBreaches } from './redis-section.ts';
import { FALLBACK_AFTER_DEFAULT, OPS_LISTEN_DEFAULT } from './sections.ts';

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

/** Each format of `channels.webhook.receivers` with what it needs, and no other. */
const receiverBreaches = (config: Values): Breach[] =>
  Object.entries(mapOf(mapOf(mapOf(config.channels).webhook).receivers)).flatMap(([name, receiver]) =>
    ofOne(['channels', 'webhook', 'receivers', name], mapOf(receiver)),
  );

const serviceNames = (config: Values): Breach[] => {
  const names = listOf(config.services).map((service) => mapOf(service).name);
  return names.flatMap((name, index) => {
    const first = names.indexOf(name);
    return typeof name !== 'string' || first === index
      ? []
      : [{ path: ['services', index, 'name'], rule: `must be unique; services.${first} has it already` }];
  });
};

/** As the file has it, else its default; undefined where it cannot be read. */
const durationOf = (values: Values, key: string, usual: string): { text: string; ms: number } | undefined => {
  const text = String(has(values, key) ? values[key] : usual);
  const ms = parseDuration(text);
  return ms === undefined ? undefined : { text, ms };
};

const lookbackCoversOverlap = (config: Values): Breach[] => {
  const poll = mapOf(config.poll);
  const overlap = durationOf(poll, 'overlap', POLL_DEFAULTS.overlap);
  const lookback = durationOf(poll, 'lookback', POLL_DEFAULTS.lookback);
  if (overlap === undefined || lookback === undefined || lookback.ms >= overlap.ms) return [];
  const key = has(poll, 'lookback') ? 'lookback' : 'overlap';
  const rule = 'must be such that poll.lookback is at least poll.overlap';
  return [{ path: ['poll', key], rule }];
};

/** A mail that waits longer than the fallback is always too late for it. */
const mailBeforeFallback = (config: Values): Breach[] => {
  const [email, fallback] = [mapOf(mapOf(config.channels).email), mapOf(config.fallback)];
  if (!has(mapOf(config.channels), 'email') || !has(config, 'fallback')) return [];
  const wait = durationOf(email, 'groupWait', GROUP_WAIT_DEFAULT);
  const after = durationOf(fallback, 'after', FALLBACK_AFTER_DEFAULT);
  if (wait === undefined || after === undefined || wait.ms < after.ms) return [];
  const why = 'else the fallback gets every alert of a mailbox as well';
  return has(email, 'groupWait')
    ? [
        {
          path: ['channels', 'email', 'groupWait'],
          rule: `must be shorter than fallback.after (${after.text}), ${why}`,
        },
      ]
    : [{ path: ['fallback', 'after'], rule: `must be longer than channels.email.groupWait (${wait.text}), ${why}` }];
};

const derivedFromSomething = (config: Values): Breach[] => {
  const webhook = mapOf(mapOf(config.channels).webhook);
  if (webhook.deriveSecrets !== true || has(webhook, 'secret')) return [];
  const rule = 'needs channels.webhook.secret, from which the secret of each URL is derived';
  return [{ path: ['channels', 'webhook', 'deriveSecrets'], rule }];
};

const queuesBehindToken = (config: Values): Breach[] => {
  const ops = mapOf(config.ops);
  if (ops.queues !== true || has(ops, 'token')) return [];
  const rule = 'needs ops.token: only who signs in with it may look into the queues, which hold whole alerts';
  return [{ path: ['ops', 'queues'], rule }];
};

/** Of every interface, or of loopback. */
const boundTo = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return '*';
  return host === 'localhost' || host === '::1' || host.startsWith('127.') ? 'loopback' : host;
};

const probesApart = (config: Values): Breach[] => {
  const ops = mapOf(config.ops);
  const [listen, probes] = [ops.listen ?? OPS_LISTEN_DEFAULT, ops.probes].map((value) =>
    typeof value === 'string' ? parseHostPort(value) : undefined,
  );
  if (listen === undefined || probes === undefined || probes.port === 0 || listen.port !== probes.port) return [];
  const hosts = [listen, probes].map(({ host }) => boundTo(host));
  if (!hosts.includes('*') && hosts[0] !== hosts[1]) return [];
  return [{ path: ['ops', 'probes'], rule: `must have another port than ops.listen, which takes ${listen.port}` }];
};

const trustedProxyBesideToken = (config: Values): Breach[] => {
  const ops = mapOf(config.ops);
  if (!has(ops, 'trustedProxy') || has(ops, 'token')) return [];
  const rule = 'needs ops.token, which signs the forms of the page';
  return [{ path: ['ops', 'trustedProxy'], rule }];
};

interface Way {
  /** `channels.email with ops.publicUrl` */
  needs: string;
  isOpen: boolean;
}

/** The ways in which people can acknowledge by a kind: a press of a button comes by a token, a link needs a URL of ours. */
const waysBy = (kind: ChannelKind, { channels, ops }: Values): { buttons: Way[]; links: Way[] } => {
  const section = mapOf(channels)[kind];
  const { acknowledgedBy } = kindFacts(kind);
  if (acknowledgedBy?.way === 'link') {
    const isOpen = section !== undefined && has(mapOf(ops), 'publicUrl');
    return { buttons: [], links: [{ needs: `channels.${kind} with ops.publicUrl`, isOpen }] };
  }
  if (acknowledgedBy === undefined) return { buttons: [], links: [] };
  const { key } = acknowledgedBy;
  const isOpen = (key === undefined ? section : mapOf(section)[key]) !== undefined;
  return { buttons: [{ needs: ['channels', kind, ...(key === undefined ? [] : [key])].join('.'), isOpen }], links: [] };
};

const acknowledgement = (config: Values): Breach[] => {
  const { appToken, botToken } = mapOf(mapOf(config.channels).slack);
  const found = CHANNEL_KINDS.map((kind) => waysBy(kind, config));
  const ways = [...found.flatMap(({ buttons }) => buttons), ...found.flatMap(({ links }) => links)];
  const isOn = mapOf(config.alerts).acknowledge === true;
  const needs = ways.map((way) => way.needs);
  const rule = `needs ${needs.slice(0, -1).join(', ')}, or ${needs.at(-1)}`;
  return [
    ...(isOn && !ways.some(({ isOpen }) => isOpen) ? [{ path: ['alerts', 'acknowledge'], rule }] : []),
    ...(mapOf(config.fallback).until === 'acknowledged' && !isOn
      ? [{ path: ['fallback', 'until'], rule: 'needs alerts.acknowledge: true, else nobody can acknowledge anything' }]
      : []),
    ...(appToken !== undefined && botToken === undefined
      ? [{ path: ['channels', 'slack', 'appToken'], rule: 'needs channels.slack.botToken, which sends the messages' }]
      : []),
  ];
};

const entriesIn = (config: Values): { path: Path; entry: Values }[] => {
  const listAt = (path: Path, list: unknown) =>
    listOf(list).map((entry, index) => ({ path: [...path, index], entry: mapOf(entry) }));
  const overrides = Object.entries(mapOf(mapOf(config.protocols).overrides)).flatMap(([name, override]) =>
    ['channels', 'extraChannels'].flatMap((key) => listAt(['protocols', 'overrides', name, key], mapOf(override)[key])),
  );
  const others = ['fallback', 'watchdog'].flatMap((key) => listAt([key, 'channels'], mapOf(config[key]).channels));
  return [...overrides, ...others];
};

const gives = (entry: Values, key: string): boolean => {
  const value = entry[key];
  return has(entry, key) && (!Array.isArray(value) || value.length > 0);
};

const entryBreaches = (path: Path, entry: Values, channels: Values): Breach[] => {
  const { name } = entry;
  if (!isChannelKind(name)) return [];
  const { keys, missing, contactsNeed } = kindFacts(name).entry;
  const breaches = keys.some((key) => gives(entry, key)) ? [] : [{ path, rule: `has nothing to send to: ${missing}` }];
  if (!has(channels, name)) {
    return [...breaches, { path: [...path, 'name'], rule: `must be a kind that is set up under channels` }];
  }
  if (contactsNeed === undefined || !gives(entry, 'contacts') || has(mapOf(channels[name]), contactsNeed))
    return breaches;
  const rule = `needs channels.${name}.${contactsNeed}; without it only url works`;
  return [...breaches, { path: [...path, 'contacts'], rule }];
};

const contactBreaches = (path: Path, { name, contacts }: Values): Breach[] => {
  const form = isChannelKind(name) ? kindFacts(name).entry.contact : undefined;
  return listOf(contacts).flatMap((contact, index) =>
    form === undefined || typeof contact !== 'string' || form.isPossible(contact)
      ? []
      : [{ path: [...path, 'contacts', index], rule: form.rule }],
  );
};

const reachableEntries = (config: Values): Breach[] =>
  entriesIn(config).flatMap(({ path, entry }) => [
    ...entryBreaches(path, entry, mapOf(config.channels)),
    ...contactBreaches(path, entry),
  ]);

/** A config that seems fine and forwards nothing is the most dangerous one. */
const somethingToDo = (config: Values): Breach[] => {
  const exclude = listOf(mapOf(config.protocols).exclude);
  const include = listOf(mapOf(config.protocols).include);
  const everything = exclude.findIndex((glob) => glob === '*' || glob === '**');
  return [
    ...(Object.keys(mapOf(config.channels)).length > 0
      ? []
      : [{ path: ['channels'], rule: 'must set up at least one kind of channel, else nothing is forwarded' }]),
    ...(everything < 0
      ? []
      : [{ path: ['protocols', 'exclude', everything], rule: 'leaves out every protocol, so nothing is forwarded' }]),
    ...include.flatMap((glob, index) =>
      exclude.includes(glob)
        ? [{ path: ['protocols', 'include', index], rule: 'can match nothing: exclude has it, too' }]
        : [],
    ),
  ];
};

const RULES = [
  serviceNames,
  redisBreaches,
  lookbackCoversOverlap,
  mailBeforeFallback,
  derivedFromSomething,
  receiverBreaches,
  queuesBehindToken,
  probesApart,
  trustedProxyBesideToken,
  acknowledgement,
  reachableEntries,
  somethingToDo,
  muteBreaches,
];

/** Every problem between keys. `value`: as read, before defaults. */
export const breachesOf = (value: unknown): Breach[] => RULES.flatMap((rule) => rule(mapOf(value)));
