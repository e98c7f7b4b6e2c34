/** The sections of the configuration that belong to no channel kind and have no file of their own. Each key's description is its help in an editor. */
import { z } from 'zod';
import { CHANNEL_KINDS, KINDS_TEXT, SOURCES } from '../alert.ts';
import { kindFacts } from '../channels/registry.ts';
import { cidr, duration, durationOr, flag, glob, hostPort, httpUrl, SECRET_MARK, secret } from '../schema/fields.ts';
import { createSecret } from '../secret.ts';
import { detectorNames, shortLine, timeZone } from './presentation-section.ts';

/** The service's own spelling; `suspecious` is not our mistake. */
export const ASSESSMENTS = ['ok', 'suspecious', 'critical'] as const;

const choices = <const T extends readonly [string, ...string[]]>(values: T) => {
  const list = z.array(z.enum(values)).min(1, { error: 'must name at least one' });
  return list.refine((given) => new Set(given).size === given.length, { error: 'must not name one twice' });
};

export const alertsSection = z.strictObject({
  assessments: choices(ASSESSMENTS)
    .prefault(['critical'])
    .describe("Assessments of the inspections to forward: ok, suspecious (the service's spelling), critical."),
  harmless: z
    .array(shortLine().transform((word) => word.trim().toLowerCase()))
    .max(20, { error: 'must name at most twenty' })
    .prefault([])
    .describe(
      'Words by which your service means ok, beside those of its interface. Any other unknown word counts as critical.',
    ),
  sources: choices(SOURCES)
    .prefault([...SOURCES])
    .describe('What Tocsin polls: inspections, notifications (the messages that the service stored), or both.'),
  triggers: z
    .enum(['ignore', 'honour'])
    .default('ignore')
    .describe(
      'ignore: forward every item that matches. honour: only if a trigger of the protocol asks for a notification.',
    ),
  correlate: z
    .boolean()
    .default(true)
    .describe(
      'Do not send a stored notification to a destination that already has inspections of its protocol for every transaction that it names. `tocsin trace` shows which inspection covers it. A notification that names no transaction, arrives long before its inspection, or was written more than a minute after Tocsin read the first one, is always sent. Set it to false to get both.',
    ),
  detectorNames: detectorNames()
    .prefault({})
    .describe(
      'Names of detectors for people, by the name that the service gives them: { flashLoan: Flash loan }. Other names are split into words, flashLoan into Flash loan.',
    ),
  acknowledge: flag().describe(
    'Messages to people have a button to acknowledge them, on Telegram and, with channels.slack.appToken, on Slack; mails have a link if ops.publicUrl is set. An acknowledged alert goes to no fallback any more, and every message about it says who acknowledged it. A second button mutes its detectors for an hour; mutes.maxLength, mutes.never and muteByButton limit it.',
  ),
  muteByButton: flag().describe(
    'Show the button that mutes at every destination. If false, only at those that the config names, that destinations.allow matches or that somebody approved (`tocsin destinations approve`): a mute counts at every destination, and an attacker who can change channels at the service could add a chat to press it in.',
  ),
  incidentWindow: durationOr('10m', { minMs: 0 }).describe(
    'How long, after people last heard of it, later findings of the same transaction update the Slack, Telegram or Discord message in place. With 0s each finding is a message of its own.',
  ),
  secondLook: z
    .array(duration({ minMs: 100 }))
    .max(10, { error: 'must name at most ten' })
    .prefault(['2m', '15m', '2h'])
    .describe(
      'Tocsin reads inspections that are suspicious or were forwarded again, at these ages. If one has turned critical, it is forwarded. If a forwarded one is no longer critical, or gone, the people who had the alert get one short follow-up. An empty list turns this off.',
    ),
});

export const auditSection = z.strictObject({
  every: durationOr('5m', { minMs: 100 }).describe(
    'Time between two audits. Each covers the time since the last one, as far as no item can still arrive late.',
  ),
  lostAfter: durationOr('1m', { minMs: 100 }).describe(
    'How long a delivery may wait without a job in the queue. Then the next audit queues it again. After Redis was restarted or failed over an audit looks within seconds for what may have been lost. Less than 1m may send something twice while the connection to Redis is bad.',
  ),
});

/** Digits of a chat id go beyond 2^53; the reader gives whole numbers as they were written. */
const contact = () =>
  z
    .string()
    .regex(/^\S(.*\S)?$/, { error: 'must not be empty or have spaces around it' })
    .meta({ type: ['string', 'integer'] });

/** The service's own shape of a channel. */
export const channelEntry = z.strictObject({
  name: z.enum(CHANNEL_KINDS).describe(`Kind: ${KINDS_TEXT}. Set the kind up under \`channels\`.`),
  contacts: z
    .array(contact())
    .exactOptional()
    .describe(`Addresses. ${CHANNEL_KINDS.map((kind) => `${kind}: ${kindFacts(kind).entry.contactsAre}.`).join(' ')}`),
  // Everybody who knows an incoming webhook's URL may post to it.
  url: httpUrl().meta(SECRET_MARK).exactOptional().describe('URL of a webhook; for slack, of an incoming webhook.'),
});

export const watchdogSection = z.strictObject({
  after: durationOr('60s', { minMs: 100 }).describe(
    'How long a trouble, or its end, must last before it is announced; for reads at least three poll intervals.',
  ),
  channels: z
    .array(channelEntry)
    .min(1, { error: 'must name at least one; leave it out for the channels of the fallback' })
    .exactOptional()
    .describe(
      'Who hears of it, in the form of protocols.overrides. If none of these works, the fallback does. Left out: the channels of the fallback.',
    ),
  // Everybody who knows it can pretend that all is well.
  heartbeatUrl: httpUrl()
    .meta(SECRET_MARK)
    .transform(createSecret)
    .exactOptional()
    .describe(
      "URL of a dead man's switch that runs elsewhere, such as Healthchecks or a push monitor of Uptime Kuma. Tocsin calls it only if, since the last call, it has read every service, got a job through each queue and proven each channel. Otherwise the switch hears nothing, and raises the alarm; Healthchecks gets a POST to /fail with the reason. channels.webhook.allowHttp and allowNetworks apply. Secret.",
    ),
  heartbeatEvery: durationOr('1m', { minMs: 1000 }).describe(
    'Time between two calls of heartbeatUrl, by all daemons together.',
  ),
});

const ADDRESS_RULE = 'must be an address in quotes, such as "0x5033..." with 40 hexadecimal digits';

const override = z.strictObject({
  channels: z
    .array(channelEntry)
    .min(1, { error: 'must name at least one; leave it out for the channels of the service' })
    .exactOptional()
    .describe("Channels that replace the service's. Left out: the service's stay."),
  extraChannels: z
    .array(channelEntry)
    .prefault([])
    .describe("Channels in addition to the service's, or to `channels`."),
  expectEvery: duration({ minMs: 100 })
    .exactOptional()
    .describe(
      'How long the service may list no new inspection of this protocol before Tocsin announces that it is silent. Left out: twice the longest pause of the last two weeks, at least half an hour, and once ten days and 20 inspections are known.',
    ),
  admins: z
    .array(
      z
        .string({ error: ADDRESS_RULE })
        .regex(/^0x[0-9a-f]{40}$/i, { error: ADDRESS_RULE })
        .transform((address) => address.toLowerCase()),
    )
    .exactOptional()
    .describe(
      "Addresses of the admins of this protocol's contracts: messages say whether a transaction's sender is one. They replace the service's; an empty list means that nobody is an admin. Left out: the service's.",
    ),
  timeZone: timeZone()
    .exactOptional()
    .describe("Time zone of this protocol's times in messages. Left out: `timeZone` of the config."),
  prefix: shortLine()
    .exactOptional()
    .describe("Text before the titles of this protocol's messages, such as [staging]. Left out: none."),
});

export const protocolsSection = z.strictObject({
  include: z
    .array(glob())
    .min(1, { error: 'must name at least one, else nothing is forwarded' })
    .prefault(['*'])
    .describe(
      "Globs on the protocol's name. A protocol is polled if one of them matches. In every glob * is any text, ? any character, [a-c] and [!a-c] a character that is or is not one of these, {one,other} one text of several, and \\* a star. A glob without them, and a glob that is the name itself, match that name.",
    ),
  exclude: z
    .array(glob())
    .prefault([])
    .describe("Globs on the protocol's name. A protocol is left out if one of them matches, even if it is included."),
  overrides: z
    .record(z.string().min(1), override)
    .prefault({})
    .describe('Your own channels and expectations for a protocol, by its exact name.'),
});

export const FALLBACK_AFTER_DEFAULT = '60s';

export const fallbackSection = z.strictObject({
  after: durationOr(FALLBACK_AFTER_DEFAULT).describe(
    'How long the human channels have to accept an item, or people to acknowledge it.',
  ),
  until: z
    .enum(['delivered', 'acknowledged'])
    .default('delivered')
    .describe(
      'What has to happen within after. delivered: a human channel accepts the item. acknowledged: a person acknowledges it, too, else it goes to the fallback although it was delivered; needs alerts.acknowledge.',
    ),
  channels: z
    .array(channelEntry)
    .min(1, { error: 'must name at least one' })
    .describe('Where the item goes, in the form of protocols.overrides.'),
});

export const chainSection = z.strictObject({
  name: z.string().min(1).describe("The chain's common name."),
  explorer: httpUrl()
    .exactOptional()
    .describe('Base URL of an explorer with /tx/HASH and /address/ADDRESS. Left out: hashes are not linked.'),
});

const ALLOW_RULE = `must be KIND:GLOB with one of ${CHANNEL_KINDS.join(', ')}, like slack:C024* or email:*@example.com`;

export const destinationsSection = z.strictObject({
  gate: flag().describe(
    'Hold alerts for a new destination until `tocsin destinations approve`. The fallback gets them meanwhile. Turning this on blocks every destination until you approve it: start with `tocsin destinations approve --all`.',
  ),
  allow: z
    .array(
      z.string({ error: ALLOW_RULE }).regex(new RegExp(`^(${CHANNEL_KINDS.join('|')}):\\S+$`), { error: ALLOW_RULE }),
    )
    .prefault([])
    .describe(
      'Destinations that need no approval, as KIND:GLOB on the address: slack:C024*, email:*@example.com, telegram:-100123456*, webhook:hooks.example.com/alerts/*. Write a web address without https://; write http:// before an address of plain http. Host and path are compared separately.',
    ),
});

const HEADER_RULE = 'must be the name of a header, such as X-Forwarded-User';

export const OPS_LISTEN_DEFAULT = '127.0.0.1:9464';

export const opsSection = z.strictObject({
  listen: hostPort({ anyPort: true })
    .prefault(OPS_LISTEN_DEFAULT)
    .describe(
      'Address and port; port 0 means any free port. If this key is left out, the variable TOCSIN_OPS_LISTEN counts: in the container 0.0.0.0:9464. Keep that port off the public network.',
    ),
  probes: hostPort({ anyPort: true })
    .exactOptional()
    .describe(
      'A second address and port, which answers /livez and /readyz and nothing else: an attacker who fills the connections of listen cannot make an orchestrator restart the daemon. If this key is left out, the variable TOCSIN_OPS_PROBES counts: in the container 127.0.0.1:9466. Let only probes reach it.',
    ),
  publicUrl: httpUrl()
    .exactOptional()
    .describe(
      "URL of the status page, if a proxy or a DNS name leads to it. Tocsin refuses requests that name an unknown host, so that no web page can read this through its visitor's browser. It knows every IP address, localhost, the host of listen and the host of this URL. If listen is not on loopback, it also knows names that only a local network has: names without a dot and *.svc, *.local, *.internal, *.home.arpa.",
    ),
  token: secret({ pattern: /^\S.{14,}\S$/, rule: 'must have at least 16 characters' })
    .exactOptional()
    .describe(
      'People who sign in on the status page with this may send dead deliveries again or drop them, mute, approve destinations and send tests. At least 16 characters, such as `openssl rand -base64 24` makes. Left out: the page only reads. Over plain HTTP others on the way can read it: use a proxy with TLS beyond this machine.',
    ),
  trustedProxy: z
    .strictObject({
      networks: z
        .array(cidr())
        .min(1, { error: 'must name at least one: everybody could write the header' })
        .describe(
          'Networks (CIDR) and addresses that the proxy connects from. Anybody else who connects from there can claim to be anybody.',
        ),
      header: z
        .string({ error: HEADER_RULE })
        .regex(/^[\w-]{1,100}$/, { error: HEADER_RULE })
        .default('X-Forwarded-User')
        .describe(
          'The header with the name of who is signed in, such as Remote-User. The proxy has to remove it from what browsers send. A name with a comma counts as none: one of a list may be what a browser sent.',
        ),
    })
    .exactOptional()
    .describe(
      'A proxy in front of the status page where people sign in, such as OAuth2 Proxy or Authelia. People whom it names need not sign in here, may do what ops.token allows, and are named in the operator log. It needs ops.token, too.',
    ),
  queues: flag().describe(
    'People who sign in with ops.token may also look into the queues, at /queues, with bull-board. It only reads. The jobs there have whole alerts, but no addresses of receivers that may be secret.',
  ),
});

export const logSection = z.strictObject({
  level: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    .default('info')
    .describe('The lowest level that is logged: trace, debug, info, warn, error or fatal.'),
  format: z
    .enum(['auto', 'json', 'pretty'])
    .default('auto')
    .describe('auto: for people on a terminal, JSON lines elsewhere. json and pretty: always so.'),
});
