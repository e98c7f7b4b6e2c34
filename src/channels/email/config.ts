/** The `channels.email` slice of the configuration. */
import { z } from 'zod';
import { certificates, connectionFields, pairedKey, tlsFields } from '../../schema/connection.ts';
import { httpUrl, isHost, port, secret } from '../../schema/fields.ts';
import { channelOptions, groupWaitOption, senderOption } from '../options.ts';
import { parseMailbox } from './address.ts';

const FROM_RULE = 'must be one address, or a name and an address: Tocsin <tocsin@example.com>';

const sender = () =>
  z
    .string({ error: FROM_RULE })
    .refine((text) => parseMailbox(text) !== undefined, { error: FROM_RULE })
    .meta({ description: 'The sender, as Name <address>. The relay must accept it.' })
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
    clientSecret: secret().exactOptional().describe('Secret of that application. Left out: a public client has none.'),
    refreshToken: secret().describe(
      'Refresh token that may send mail by SMTP. Tocsin exchanges it for access tokens. A newer one that the provider gives is used until Tocsin restarts, so choose a provider or application whose tokens stay good.',
    ),
    accessUrl: httpUrl()
      .refine(isSafeUrl, { error: 'must be an https URL: it gets secrets' })
      .describe('https URL where the provider gives access tokens.'),
    scope: text()
      .exactOptional()
      .describe('Scope to ask for, if the provider wants one. Left out: that of the refresh token.'),
    ...connectionFields('the token endpoint'),
  })
  .superRefine(pairedKey);

const smtpFields = z.strictObject({
  host: z.string({ error: HOST_RULE }).refine(isHost, { error: HOST_RULE }).describe('Host name or address.'),
  port: port()
    .prefault(587)
    .describe('587 for submission with STARTTLS, 465 for TLS from the first byte, 25 for a plain relay.'),
  secure: z
    .boolean({ error: FLAG_RULE })
    .default(false)
    .describe('TLS from the first byte: true for port 465, and only there.'),
  tls: z.enum(['verify', 'opportunistic', 'off'], { error: TLS_RULE }).exactOptional().meta({
    // Not a default of the field: beside `requireTLS: false` a missing `tls` means what it meant before there was one.
    default: 'verify',
    description:
      'How the connection is encrypted. verify: Tocsin sends nothing, not even the password, without TLS and a certificate that it trusts. opportunistic: STARTTLS if the relay offers it, with any certificate. off: no TLS. Anybody on the way can then read and change the mails, so neither is allowed with a password unless the relay is on this machine.',
  }),
  ...tlsFields('the relay'),
  ca: certificates()
    .exactOptional()
    .describe(
      "Certificates in PEM to trust for this relay, besides the well-known authorities. Give the certificate of your own authority; the relay's certificate must then be for the name in host. Or give the relay's own certificate, self-signed or not: it is then trusted whatever its name is, until it expires. Only with tls: verify.",
    ),
  requireTLS: z
    .boolean({ error: FLAG_RULE })
    .exactOptional()
    .describe(
      'The older way to say tls. Left out: what tls says. true is tls: verify. false without tls is STARTTLS if the relay offers it, with a certificate that Tocsin trusts, and else no TLS; a password is then sent in the clear.',
    ),
  user: z
    .string()
    .min(1, { error: 'must not be empty' })
    .exactOptional()
    .describe('User name at the relay; needs pass. Left out: no login.'),
  pass: secret().exactOptional().describe('Password at the relay; needs user. Left out: no login.'),
  oauth2: oauth2
    .exactOptional()
    .describe('Log in by XOAUTH2, as Google and Microsoft ask for, instead of user and pass.'),
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
    path: 'secure',
    error: 'contradicts port 587, where TLS begins with STARTTLS: use port 465, or leave secure out',
    isIn: ({ port, secure }) => port === 587 && secure,
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

/**
 * Exchange Online takes 1,200 messages an hour from one sender for one mailbox, a third of what it takes from all; Gmail
 * takes 60 a minute from all. So: five at once, and then one in three seconds. More wait, and become a digest.
 * Sources: https://learn.microsoft.com/office365/servicedescriptions/exchange-online-service-description/exchange-online-limits
 * (receiving limits), https://support.google.com/a/answer/1366776
 */
const PACE = { perSecond: 0.33, burst: 5 };

export const GROUP_WAIT_DEFAULT = '2s';

/** E-mail by SMTP, through a relay. */
export const emailConfig = z.strictObject({
  from: sender(),
  smtp: smtp.describe('The relay.'),
  ...groupWaitOption(
    GROUP_WAIT_DEFAULT,
    'How long a mail waits for more to the same mailbox, so that all findings of a transaction are one mail. 0s: it does not wait. It has to be shorter than fallback.after, or the fallback gets every alert as well.',
  ),
  ...channelOptions({ rateLimit: PACE, concurrency: 5 }),
  ...senderOption({}),
});

export type EmailConfig = z.infer<typeof emailConfig>;
