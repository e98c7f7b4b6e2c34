/** The sections of those who operate Tocsin: `ops`, the status page and its endpoints, and `log`. */
import { z } from 'zod';
import { cidr, hostPort, httpUrl, secret } from '../schema/fields.ts';

const HEADER_RULE = 'must be the name of a header, such as X-Forwarded-User';

export const opsSection = z.strictObject({
  listen: hostPort({ anyPort: true })
    .prefault('127.0.0.1:9464')
    .describe(
      'Address and port; port 0 means any free port. A variable TOCSIN_OPS_LISTEN stands for this key where it is left out: in the container it is 0.0.0.0:9464. Keep that port off the public network.',
    ),
  publicUrl: httpUrl()
    .exactOptional()
    .describe(
      "URL of the status page, if a proxy or a DNS name leads to it. Tocsin refuses requests that name an unknown host, so that no web page can read this through its visitor's browser. It knows every IP address, localhost, the host of listen and the host of this URL. If listen is not on loopback, it also knows names that only a local network has: names without a dot and *.svc, *.local, *.internal, *.home.arpa.",
    ),
  token: secret({ pattern: /^\S.{14,}\S$/, rule: 'must have at least 16 characters' })
    .exactOptional()
    .describe(
      'Whoever signs in on the status page with this may send dead deliveries again or drop them, mute, approve destinations and send tests. At least 16 characters, such as `openssl rand -base64 24` makes. Left out: the page only reads. Over plain HTTP others on the way can read it: use a proxy with TLS beyond this machine.',
    ),
  trustedProxy: z
    .strictObject({
      networks: z
        .array(cidr())
        .min(1, { error: 'must name at least one: everybody could write the header' })
        .describe(
          'Networks (CIDR) and addresses that the proxy connects from. Whoever else connects from there can say to be anybody.',
        ),
      header: z
        .string({ error: HEADER_RULE })
        .regex(/^[\w-]{1,100}$/, { error: HEADER_RULE })
        .default('X-Forwarded-User')
        .describe(
          'The header with the name of who is signed in, such as Remote-User. The proxy has to remove it from what browsers send.',
        ),
    })
    .exactOptional()
    .describe(
      'A proxy in front of the status page where people sign in, such as OAuth2 Proxy or Authelia. Whoever it names need not sign in here, may do what ops.token allows, and is named in the operator log. It needs ops.token, too.',
    ),
  queues: z
    .boolean()
    .default(false)
    .describe(
      'Whoever signs in with ops.token may also look into the queues, at /queues, with bull-board. It only reads. The jobs there have whole alerts, but no addresses of receivers that may be secret.',
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
