/** One key of a monitoring service: an entry of the section `services`. */
import { z } from 'zod';
import { connectionFields, pairedKey } from '../schema/connection.ts';
import { count, duration, httpUrl, secret } from '../schema/fields.ts';

const NAME_RULE = 'must be a short id: letters, digits, - and _, at most 32';
const BASE_RULE = 'must be a base URL: no ? and no #';
const KEY_RULE = 'must be printable ASCII without spaces, as it goes into an HTTP header';

export const serviceSection = z
  .strictObject({
    name: z
      .string({ error: NAME_RULE })
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, { error: NAME_RULE })
      .describe(
        'Short id of this service in logs, metrics and stored keys: letters, digits, - and _. Do not change it later: Tocsin reads a service with a new name afresh, from poll.startFrom.',
      ),
    baseUrl: httpUrl()
      .refine((url) => !/[?#]/.test(url), { error: BASE_RULE })
      .describe('Base URL of the API, without the paths of its endpoints.'),
    apiKey: secret({ pattern: /^[\x21-\x7e]+$/, rule: KEY_RULE }).describe('The API key, sent as a bearer token.'),
    timeout: duration({ minMs: 100, maxMs: 600_000 })
      .prefault('10s')
      .describe(
        'The longest that one request may take, from connecting to the last byte. Raise it if large pages are slow. A shorter time only causes more repeated reads.',
      ),
    pageSize: count({ max: 10_000 })
      .default(100)
      .describe(
        'Items to request per page; the service may return fewer. Raise it for very busy protocols. Lower it if pages time out.',
      ),
    arrayParams: z
      .enum(['repeat', 'brackets', 'comma'])
      .default('repeat')
      .describe(
        'How a list is written into a query: repeat (k=a&k=b), brackets (k[]=a&k[]=b) or comma (k=a,b). Change it if the service answers for only one of several names.',
      ),
    ...connectionFields('the service'),
  })
  .superRefine(pairedKey);
