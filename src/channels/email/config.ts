/** The `channels.email` slice of the configuration. */
import { z } from 'zod';
import { isHost, port, secret } from '../../schema/fields.ts';
import { channelOptions, senderOption } from '../options.ts';
import { parseMailbox } from './address.ts';

const FROM_RULE = 'must be one address, or a name and an address: Tocsin <tocsin@example.com>';

const sender = () =>
  z
    .string({ error: FROM_RULE })
    .refine((text) => parseMailbox(text) !== undefined, { error: FROM_RULE })
    .meta({ description: 'The sender: Name <address>. The relay must let us send as it.' })
    .transform((text) => parseMailbox(text) ?? { name: '', address: '' });

const HOST_RULE = 'must be a host name or an IP address';
const FLAG_RULE = 'must be true or false';

const smtp = z
  .strictObject({
    host: z
      .string({ error: HOST_RULE })
      .refine(isHost, { error: HOST_RULE })
      .describe('The relay that takes our mail.'),
    port: port()
      .prefault(587)
      .describe('587 for submission with STARTTLS, 465 for TLS from the start, 25 for a relay.'),
    secure: z.boolean({ error: FLAG_RULE }).default(false).describe('TLS from the first byte; true for port 465.'),
    requireTLS: z
      .boolean({ error: FLAG_RULE })
      .default(true)
      .describe(
        'Send nothing, not even the password, before STARTTLS has succeeded. False only for a relay without TLS.',
      ),
    user: z.string().min(1, { error: 'must not be empty' }).exactOptional().describe('User name; with `pass`.'),
    pass: secret().exactOptional().describe('Password; with `user`.'),
  })
  .refine(({ user, pass }) => (user === undefined) === (pass === undefined), {
    error: 'user and pass go together: give both or neither',
  })
  .refine((options) => options.port !== 465 || options.secure, {
    error: 'port 465 speaks TLS from the first byte: set secure: true',
    path: ['secure'],
  });

/** E-mail by SMTP, through a relay. */
export const emailConfig = z.strictObject({
  from: sender(),
  smtp: smtp.describe('How to reach the relay.'),
  ...channelOptions({ rateLimit: {}, concurrency: 5 }),
  ...senderOption({}),
});

export type EmailConfig = z.infer<typeof emailConfig>;
