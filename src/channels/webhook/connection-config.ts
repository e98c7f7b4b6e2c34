/** The field of a receiver's headers. Bad values are found when the config is read. */
import { z } from 'zod';
import { secret } from '../../schema/fields.ts';

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
