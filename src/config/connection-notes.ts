/** What `check` says of connections that may work, but not well: dates of certificates, and a password in the clear. */
import { mayShowPassword } from '../channels/email/config.ts';
import { certificatesIn } from '../schema/pem.ts';
import { iso } from '../time.ts';
import type { Config } from './schema.ts';

const SOON_MS = 14 * 86_400_000;

type Certificates = { ca?: string | undefined; cert?: string | undefined };

/** Every section with certificates, by its path. */
const sectionsOf = ({
  services,
  redis,
  channels: { email, telegram, slack, webhook },
}: Config): [string, Certificates][] => [
  ...services.map((service, index): [string, Certificates] => [`services.${index}`, service]),
  ['redis', redis],
  ['channels.email.smtp', email?.smtp ?? {}],
  ['channels.email.smtp.oauth2', email?.smtp.oauth2 ?? {}],
  ['channels.telegram', telegram ?? {}],
  ['channels.slack', slack ?? {}],
  ['channels.webhook', webhook ?? {}],
  ...Object.entries(webhook?.receivers ?? {}).map(([name, receiver]): [string, Certificates] => [
    `channels.webhook.receivers.${name.includes('://') ? (URL.parse(name)?.host ?? '') : name}`,
    receiver,
  ]),
];

const dayOf = (date: Date): string => iso(date.getTime()).slice(0, 10);

const datesOf = (path: string, pem: string, now: number): string[] =>
  certificatesIn(pem).flatMap(({ validFromDate, validToDate }) => {
    if (validToDate.getTime() <= now) return [`${path} has a certificate that expired on ${dayOf(validToDate)}`];
    if (validFromDate.getTime() > now)
      return [`${path} has a certificate that is not valid before ${dayOf(validFromDate)}`];
    const isSoon = validToDate.getTime() - now < SOON_MS;
    return isSoon ? [`${path} has a certificate that expires on ${dayOf(validToDate)}`] : [];
  });

/** One sentence each. */
export const connectionNotes = (config: Config, now: number): string[] => {
  const dates = sectionsOf(config).flatMap(([section, { ca, cert }]) =>
    Object.entries({ ca, cert }).flatMap(([key, pem]) => datesOf(`${section}.${key}`, pem ?? '', now)),
  );
  const { email } = config.channels;
  const clear =
    email !== undefined && mayShowPassword(email.smtp)
      ? [
          'channels.email.smtp sends its password or token in the clear if TLS is not offered: replace requireTLS by tls: verify',
        ]
      : [];
  return [...dates, ...clear];
};
