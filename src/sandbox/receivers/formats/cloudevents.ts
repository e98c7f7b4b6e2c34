/**
 * A receiver of CloudEvents 1.0 in structured mode. Source:
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md (attributes and their types),
 * .../formats/json-format.md (members) and .../http-webhook.md (answers)
 */
import { isObject, type JsonValue } from '../../json.ts';
import { dateTime, type Rule, text } from './rules.ts';
import { createVendorReceiver, secondsIn, type Vendor, type VendorOptions, type VendorReceiver } from './vendor.ts';

/** No control characters, no lone surrogates, no noncharacters. */
const STRING = /^[^\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]+$/u;
const URI_REFERENCE = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(;.*)?$/;

const ATTRIBUTES: Readonly<Record<string, Rule>> = {
  specversion: text({ pattern: /^1\.0$/ }),
  id: text({ pattern: STRING }),
  source: text({ pattern: URI_REFERENCE }),
  type: text({ pattern: STRING }),
  datacontenttype: text({ pattern: MEDIA_TYPE }),
  dataschema: text({ pattern: /^[a-z][a-z0-9+.-]*:[^\s]+$/i }),
  subject: text({ pattern: STRING }),
  time: dateTime,
};
const REQUIRED = ['specversion', 'id', 'source', 'type'];
const EXTENSION = /^[a-z0-9]{1,20}$/;

const isScalar = (value: JsonValue): boolean => typeof value !== 'object' && value !== null;

const problemsIn = (event: JsonValue): string[] => {
  if (!isObject(event)) return ['an event must be an object'];
  const { data: _data, data_base64: _binary, ...attributes } = event;
  return [
    ...REQUIRED.filter((name) => !Object.hasOwn(event, name)).map((name) => `${name} is required`),
    ...(Object.hasOwn(event, 'data') && Object.hasOwn(event, 'data_base64') ? ['data and data_base64'] : []),
    ...Object.entries(attributes).flatMap(([name, value]) => {
      const rule = Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : undefined;
      if (rule !== undefined) return rule(value, name);
      return EXTENSION.test(name) && isScalar(value) ? [] : [`${name} is no attribute`];
    }),
  ];
};

const vendor: Vendor = {
  contentType: /^application\/cloudevents\+json\b/i,
  malformed: { status: 400 },
  limited: (waitMs) => ({ status: 429, headers: { 'retry-after': secondsIn(waitMs) } }),
  judge: ({ body }) => {
    const problems = problemsIn(body);
    return { problems, answer: problems.length === 0 ? { status: 204 } : { status: 400, body: problems.join('; ') } };
  },
};

/** Every path takes events. */
export const createCloudeventsReceiver = (options: VendorOptions = {}): VendorReceiver =>
  createVendorReceiver(vendor, options);
