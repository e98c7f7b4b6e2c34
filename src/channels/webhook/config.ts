/** The `channels.webhook` slice of the configuration. */
import { z } from 'zod';
import { cidrOrHost, SECRET_MARK } from '../../config/fields.ts';
import { createSecret } from '../../secret.ts';
import { channelOptions } from '../options.ts';

const SECRET_RULE = 'must be whsec_ and the base64 of 24 to 64 random bytes';
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** Source: Standard Webhooks 1.0.0, "Symmetric". */
const hasRightLength = (text: string): boolean => {
  const { length } = Buffer.from(SECRET.exec(text)?.[1] ?? '', 'base64');
  return length >= 24 && length <= 64;
};

const signingSecret = () =>
  z
    .string({ error: SECRET_RULE })
    .regex(SECRET, { error: SECRET_RULE, abort: true })
    .refine(hasRightLength, { error: SECRET_RULE })
    .meta({ ...SECRET_MARK })
    .transform(createSecret);

/** Webhooks by Standard Webhooks 1.0.0. Without a secret they go out unsigned. */
export const webhookConfig = z.strictObject({
  secret: signingSecret().exactOptional().describe('Signs every webhook: whsec_ and base64.'),
  secrets: z
    .record(z.string().min(1), signingSecret())
    .prefault({})
    .describe('Secrets of single receivers, by full URL or by host; the URL wins over the host, both over `secret`.'),
  allowHttp: z.boolean({ error: 'must be true or false' }).default(false).describe('Let plain http through.'),
  allowNetworks: z
    .array(cidrOrHost())
    .prefault([])
    .describe('Networks and hosts that may be reached although they are not public addresses.'),
  ...channelOptions({ rateLimit: {}, concurrency: 50 }),
});

export type WebhookConfig = z.infer<typeof webhookConfig>;
