/** The `channels.webhook` slice of the configuration. */
import { z } from 'zod';
import { certificates, connectionFields, pairedKey } from '../../schema/connection.ts';
import { cidr, cidrOrHost, count, SECRET_MARK, secret } from '../../schema/fields.ts';
import { createSecret } from '../../secret.ts';
import { webAddress } from '../address.ts';
import { channelOptions, groupWaitOption } from '../options.ts';
import { WEBHOOK_FORMATS } from './formats/names.ts';
import { isSigningSecret, SIGNING_SECRET } from './signature.ts';

// How the config names receivers: by full URL, or by host, with or without port. What the config holds for a host is
// meant for the people who run it: it goes to them over https alone, and to no other port. Addresses come from the
// service, and behind another port or on the way of plain http may be anybody.

/** The name in its normal form; undefined for anything but a URL, or a host with or without port. */
export const receiverKey = (name: string): string | undefined => {
  if (name.includes('://')) return webAddress(name);
  const url = URL.parse(`https://${name}`);
  return url !== null && url.href === `https://${url.host}/` ? url.host : undefined;
};

/** The entry for an address: that of its URL, else, of https, that of its host with its port. */
export const createReceiverFinder = <T>(entries: Readonly<Record<string, T>>): ((address: string) => T | undefined) => {
  const byKey = new Map(Object.entries(entries).map(([name, value]) => [receiverKey(name) ?? name, value]));
  return (address) => {
    const url = byKey.size === 0 ? null : URL.parse(address);
    return byKey.get(address) ?? (url?.protocol === 'https:' ? byKey.get(url.host) : undefined);
  };
};

const NAME_RULE = "must be a header's name: letters, digits and -";
const RESERVED_RULE = 'is set by Tocsin, or by HTTP itself, and cannot be set here';
const VALUE_RULE = 'must be printable ASCII on one line, without spaces around it';

/** Headers of Standard Webhooks, of the body, and of the connection (RFC 9110, section 7.6.1). */
const RESERVED =
  /^(webhook-.*|content-(type|length|encoding)|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i;

const headerName = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, { error: NAME_RULE, abort: true })
    .refine((name) => !RESERVED.test(name), { error: RESERVED_RULE });

const areUnique = (names: readonly string[]): boolean =>
  new Set(names.map((name) => name.toLowerCase())).size === names.length;

/** Headers besides our own. Names are lower-cased; each value is a `Secret`. */
export const extraHeaders = () =>
  z
    .record(headerName(), secret({ pattern: /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/, rule: VALUE_RULE }))
    .refine((headers) => areUnique(Object.keys(headers)), { error: 'must not name a header twice' })
    .transform((headers) =>
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    );

const SECRET_RULE = 'must be whsec_ and the base64 of 24 to 64 random bytes';

const signingSecret = () =>
  z
    .string({ error: SECRET_RULE })
    .regex(SIGNING_SECRET, { error: SECRET_RULE })
    .refine(isSigningSecret, { error: SECRET_RULE })
    .meta({ ...SECRET_MARK })
    .transform(createSecret);

const TWO_RULE = 'must be one secret or a list of two, the newer first';

/** During a rotation there are two secrets: both sign, and a receiver checks the one that it knows. */
const signingSecrets = () =>
  z
    .union([signingSecret(), z.array(signingSecret()).min(1, { error: TWO_RULE }).max(2, { error: TWO_RULE })], {
      error: `${SECRET_RULE}, or a list of two`,
    })
    .transform((given) => [given].flat());

const RECEIVER_RULE = 'must be a URL, a host or host:port';

const byReceiver = <T extends z.ZodType>(value: T) =>
  z
    .record(
      z.string().refine((name) => receiverKey(name) !== undefined, { error: RECEIVER_RULE }),
      value,
    )
    .prefault({});

const ROUTING_KEY = {
  pattern: /^[A-Za-z0-9]{32}$/,
  rule: 'must be the 32 letters and digits of an integration key of the Events API v2',
};
const API_KEY = { pattern: /^[\x21-\x7e]{8,200}$/, rule: 'must be 8 to 200 printable characters without a space' };

const receiver = z
  .strictObject({
    format: z
      .enum(WEBHOOK_FORMATS, { error: `must be one of ${WEBHOOK_FORMATS.join(', ')}` })
      .default('standard')
      .describe(
        'What it gets: standard (Standard Webhooks 1.0), cloudevents (CloudEvents 1.0), or what a product takes by itself: pagerduty (Events API v2), opsgenie, alertmanager (API v2), discord or teams. docs/receivers.md has where each URL comes from.',
      ),
    routingKey: secret(ROUTING_KEY)
      .exactOptional()
      .describe('Of format pagerduty: the integration key of the service or of the event orchestration.'),
    apiKey: secret(API_KEY).exactOptional().describe('Of format opsgenie: the key of an API integration.'),
    basicAuth: z
      .strictObject({
        user: z
          .string()
          .regex(/^[^:\p{Cc}]{1,200}$/u, { error: 'must have 1 to 200 characters, none of them a colon' })
          .describe('User name.'),
        pass: secret().describe('Password.'),
      })
      .exactOptional()
      .describe('User and password by HTTP Basic, as a proxy in front of Alertmanager may ask for them.'),
    headers: extraHeaders()
      .prefault({})
      .describe('Additional headers. Tocsin hides their values everywhere, like secrets.'),
    ...connectionFields('the receiver'),
    ca: certificates()
      .exactOptional()
      .describe('Certificate authorities in PEM for this receiver, instead of the well-known ones.'),
  })
  .superRefine(pairedKey);

export type ReceiverConfig = z.infer<typeof receiver>;

/** Webhooks by Standard Webhooks 1.0.0. Without a secret they go out unsigned. */
export const webhookConfig = z
  .strictObject({
    secret: signingSecrets()
      .exactOptional()
      .describe(
        'Secret that signs every webhook, whsec_... Left out: webhooks are sent unsigned. To change it, list the new and the old secret, the new one first, until all receivers know the new one. Both sign.',
      ),
    secrets: byReceiver(signingSecrets()).describe(
      'Secrets of single receivers, by full URL or by host. The URL wins over the host, both over `secret`. A host is meant with https and port 443, host:port with https and that port. For plain http write the full URL, and also on a host where others have receivers, too: the service names the path. Give each receiver its own secret if they do not trust each other.',
    ),
    deriveSecrets: z
      .boolean({ error: 'must be true or false' })
      .default(false)
      .describe(
        'Sign each URL with a secret of its own, derived from `secret`. Recommended: the service names the URLs, and with one common secret each receiver could sign for all others. `tocsin webhook secret URL` prints what the receiver at URL verifies with. Turning this on changes the secret of every receiver that `secrets` does not name. To change one after another, first list each URL there with two secrets: what `tocsin webhook secret URL --derived` prints, and the present one.',
      ),
    receivers: byReceiver(receiver).describe(
      'How to reach single receivers, by full URL or by host, as in `secrets`. The URL wins over the host.',
    ),
    // A parcel for a program has no more alerts.
    batch: count({ max: 20 })
      .default(1)
      .describe(
        'The most alerts in one POST of type batch, if that many wait for one receiver. With 1 each alert is a POST of its own. At most 20.',
      ),
    ...groupWaitOption(
      '2s',
      'How long a message for Discord or Teams waits for more, so that all findings of a transaction are one message. 0s: it does not wait. Programs never wait.',
    ),
    allowHttp: z
      .boolean({ error: 'must be true or false' })
      .default(false)
      .describe('Allow plain http. Use it only if the network path to the receiver is safe without TLS.'),
    allowNetworks: z
      .array(cidrOrHost())
      .prefault([])
      .describe(
        "Networks (CIDR), addresses and host names that Tocsin may send to although they are not public. Receivers' addresses come from the service, so Tocsin refuses private ones that this list does not name. The list also applies to Slack's incoming webhooks.",
      ),
    denyNetworks: z
      .array(cidr())
      .prefault([])
      .describe(
        'Networks (CIDR) and addresses that Tocsin must not send to, even if they are public or allowed. List your own public addresses that let this machine in. If your network translates IPv6 to IPv4 (NAT64), list its prefix, because any private address can be written behind it; Tocsin refuses 64:ff9b::/96 anyway. It also refuses a host that allowNetworks lists by name, if it leads there.',
      ),
    ...connectionFields('all receivers that have none of their own'),
    ...channelOptions({ rateLimit: {}, concurrency: 50 }),
  })
  .superRefine(pairedKey);

export type WebhookConfig = z.infer<typeof webhookConfig>;
