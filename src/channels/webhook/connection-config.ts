/** Config fields of one receiver's connections, besides its certificates. Bad values are found when the config is read. */
import { z } from 'zod';
import { SECRET_MARK, secret } from '../../schema/fields.ts';
import { createSecret } from '../../secret.ts';

const PROXY_RULE = 'must be the http or https URL of a proxy, like http://user:password@proxy.example.com:3128';

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

const isProxyUrl = (text: string): boolean => {
  const url = URL.parse(text);
  if (url === null || !isDecodable(`${url.username}:${url.password}`)) return false;
  return `${url.pathname}${url.search}${url.hash}` === '/';
};

/** A proxy's URL, which may hold user and password; the program gets a `Secret`. */
export const proxyUrl = () =>
  z
    .string({ error: PROXY_RULE })
    .regex(/^https?:\/\/\S+$/i, { error: PROXY_RULE, abort: true })
    .refine(isProxyUrl, { error: PROXY_RULE, abort: true })
    .meta({ ...SECRET_MARK })
    .transform(createSecret);

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
