/** The `channels.email` slice of the configuration. */
import { z } from 'zod';
import { connectionFields, pairedKey, tlsFields } from '../../schema/connection.ts';
import { httpUrl, isHost, port, secret } from '../../schema/fields.ts';
import { certificates } from '../../schema/pem.ts';
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

/** What is sent to it does not leave this machine. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/i;

const TLS_RULE = 'must be verify, opportunistic or off';

const text = () => z.string().min(1, { error: 'must not be empty' });

const isSafeUrl = (url: string): boolean => {
  const { protocol, hostname = '' } = URL.parse(url) ?? {};
  return protocol === 'https:' || LOOPBACK.test(hostname.replace(/^\[(.*)\]$/, '$1'));
};

const oauth2 = z
  .strictObject({
    user: text().describe('The mailbox that logs in.'),
    clientId: text().describe('Id of the application that you registered with the provider.'),
    clientSecret: secret().exactOptional().describe('Its secret; a public client has none.'),
    refreshToken: secret().describe('Refresh token with the right to send mail by SMTP.'),
    accessUrl: httpUrl()
      .refine(isSafeUrl, { error: 'must be an https URL: it gets secrets' })
      .describe('Where the provider gives access tokens.'),
    scope: text().exactOptional().describe('Scope to ask for; left out: that of the refresh token.'),
    ...connectionFields('the token endpoint'),
  })
  .superRefine(pairedKey);

const smtpFields = z.strictObject({
  host: z.string({ error: HOST_RULE }).refine(isHost, { error: HOST_RULE }).describe('The relay that takes our mail.'),
  port: port().prefault(587).describe('587 for submission with STARTTLS, 465 for TLS from the start, 25 for a relay.'),
  secure: z.boolean({ error: FLAG_RULE }).default(false).describe('TLS from the first byte; true for port 465.'),
  tls: z.enum(['verify', 'opportunistic', 'off'], { error: TLS_RULE }).exactOptional().meta({
    // Not a default of the field: beside `requireTLS: false` a missing `tls` means what it meant before there was one.
    default: 'verify',
    description:
      'verify sends nothing without TLS and a certificate that we trust; opportunistic takes TLS if it is offered, with any certificate; off uses none.',
  }),
  ...tlsFields('the relay'),
  ca: certificates()
    .exactOptional()
    .describe("Certificates in PEM that vouch for the relay, besides the well-known authorities; or the relay's own."),
  requireTLS: z
    .boolean({ error: FLAG_RULE })
    .exactOptional()
    .describe(
      'The older way to say it; `tls` is better. False without `tls`: TLS with a certificate that we trust if it is offered, else none.',
    ),
  user: z.string().min(1, { error: 'must not be empty' }).exactOptional().describe('User name; with `pass`.'),
  pass: secret().exactOptional().describe('Password; with `user`.'),
  oauth2: oauth2.exactOptional().describe('Log in by XOAUTH2, instead of `user` and `pass`.'),
});

type SmtpFields = z.infer<typeof smtpFields>;

/** What `tls` does not go together with, by the other key; each names both. */
const CONFLICTS: readonly { path: keyof SmtpFields; error: string; isIn(smtp: SmtpFields): boolean }[] = [
  {
    path: 'requireTLS',
    error: 'contradicts tls: with tls: verify nothing is sent without TLS; leave requireTLS out',
    isIn: ({ tls, requireTLS }) => tls === 'verify' && requireTLS === false,
  },
  {
    path: 'requireTLS',
    error: 'contradicts tls: only tls: verify requires TLS; leave requireTLS out',
    isIn: ({ tls, requireTLS }) => tls !== undefined && tls !== 'verify' && requireTLS === true,
  },
  {
    path: 'secure',
    error: 'contradicts tls: off; secure is TLS from the first byte',
    isIn: ({ tls, secure }) => tls === 'off' && secure,
  },
  {
    path: 'ca',
    error: 'has no effect unless tls is verify: no other value has the certificate checked',
    isIn: ({ tls, ca }) => tls !== undefined && tls !== 'verify' && ca !== undefined,
  },
  {
    path: 'tls',
    error:
      'must be verify with a password, unless the relay is on this machine: others could read pass on the way; for a relay with a certificate of its own set tls: verify and ca, or leave out user and pass',
    isIn: ({ tls, pass, host }) => tls !== undefined && tls !== 'verify' && pass !== undefined && !LOOPBACK.test(host),
  },
  {
    path: 'tls',
    error: 'must be verify with oauth2, unless the relay is on this machine: others could read the token on the way',
    isIn: ({ tls, oauth2: login, host }) =>
      tls !== undefined && tls !== 'verify' && login !== undefined && !LOOPBACK.test(host),
  },
  {
    path: 'oauth2',
    error: 'may not stand beside user and pass: it is another way to log in',
    isIn: ({ user, pass, oauth2: login }) => login !== undefined && (user !== undefined || pass !== undefined),
  },
];

const smtp = smtpFields
  .refine(({ user, pass }) => (user === undefined) === (pass === undefined), {
    error: 'user and pass go together: give both or neither',
  })
  .refine((options) => options.port !== 465 || options.secure, {
    error: 'port 465 speaks TLS from the first byte: set secure: true',
    path: ['secure'],
  })
  .superRefine(pairedKey)
  .superRefine((options, context) => {
    for (const { path, error, isIn } of CONFLICTS)
      if (isIn(options)) context.addIssue({ code: 'custom', message: error, path: [path] });
  })
  .transform((options) => ({ ...options, requireTLS: options.requireTLS ?? (options.tls ?? 'verify') === 'verify' }));

/** Whether a relay without STARTTLS, or somebody who hides it from us, gets the password or token in the clear. */
export const mayShowPassword = ({ host, secure, requireTLS, tls, pass, oauth2: login }: EmailConfig['smtp']): boolean =>
  (pass !== undefined || login !== undefined) && tls === undefined && !requireTLS && !secure && !LOOPBACK.test(host);

/** E-mail by SMTP, through a relay. */
export const emailConfig = z.strictObject({
  from: sender(),
  smtp: smtp.describe('How to reach the relay.'),
  ...channelOptions({ rateLimit: {}, concurrency: 5 }),
  ...senderOption({}),
});

export type EmailConfig = z.infer<typeof emailConfig>;
