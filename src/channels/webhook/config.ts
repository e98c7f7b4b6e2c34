/** The `channels.webhook` slice of the configuration. */
import { z } from 'zod';
import { connectionFields, pairedKey } from '../../schema/connection.ts';
import { cidrOrHost, count, SECRET_MARK } from '../../schema/fields.ts';
import { certificates } from '../../schema/pem.ts';
import { createSecret } from '../../secret.ts';
import { channelOptions } from '../options.ts';
import { extraHeaders } from './connection-config.ts';
import { receiverKey } from './receivers.ts';
import { isSigningSecret, SIGNING_SECRET } from './signature.ts';

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

const receiver = z
  .strictObject({
    headers: extraHeaders()
      .prefault({})
      .describe('Headers besides our own, by name. Values are treated as secrets: hidden wherever they would show.'),
    ...connectionFields('the receiver'),
    ca: certificates()
      .exactOptional()
      .describe('Certificates in PEM that vouch for the receiver, instead of the well-known authorities.'),
  })
  .superRefine(pairedKey);

export type ReceiverConfig = z.infer<typeof receiver>;

/** Webhooks by Standard Webhooks 1.0.0. Without a secret they go out unsigned. */
export const webhookConfig = z
  .strictObject({
    secret: signingSecrets()
      .exactOptional()
      .describe('Signs every webhook: whsec_ and base64; while it is rotated a list of two, the newer first.'),
    secrets: byReceiver(signingSecrets()).describe(
      'Secrets of single receivers, by full URL or by host (https, and its own port); the URL wins, both over `secret`.',
    ),
    deriveSecrets: z
      .boolean({ error: 'must be true or false' })
      .default(false)
      .describe(
        'Sign each URL with a secret of its own, derived from `secret`; `tocsin webhook secret URL` prints it.',
      ),
    receivers: byReceiver(receiver).describe(
      'How single receivers are reached, by full URL or by host (https, and its own port); the URL wins.',
    ),
    // A parcel for a program has no more alerts.
    batch: count({ max: 20 }).default(1).describe('Most alerts in one POST; 1 sends each by itself.'),
    allowHttp: z.boolean({ error: 'must be true or false' }).default(false).describe('Let plain http through.'),
    allowNetworks: z
      .array(cidrOrHost())
      .prefault([])
      .describe('Networks and hosts that may be reached although they are not public addresses.'),
    ...connectionFields('receivers'),
    ...channelOptions({ rateLimit: {}, concurrency: 50 }),
  })
  .superRefine(pairedKey);

export type WebhookConfig = z.infer<typeof webhookConfig>;
