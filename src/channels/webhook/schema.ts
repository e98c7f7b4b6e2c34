/** The body of a webhook, for those who write receivers: the source of config/webhook.schema.json. */
import { z } from 'zod';
import { CHANGES } from '../../alert.ts';
import { EVENT_SEVERITIES } from './formats/event.ts';

const dateTime = () => z.iso.datetime({ offset: true });

const common = {
  service: z.string().describe('Name of the `services` entry it was read from.'),
  protocol: z.string().describe('Name of the protocol.'),
  summary: z.string().exactOptional().describe('What happened, in one line of plain text.'),
  severity: z
    .enum(EVENT_SEVERITIES)
    .exactOptional()
    .describe(
      'How bad it is now: critical for the assessment critical, warning for suspecious, info for ok, for tests and for good news, error for what states no severity and for troubles of Tocsin.',
    ),
  detectors: z.array(z.string()).exactOptional().describe('Ids of the detectors that fired.'),
  chain: z
    .looseObject({
      id: z.string().describe('As the service gave it, as text.'),
      name: z.string().exactOptional().describe('Absent if Tocsin does not know the chain.'),
    })
    .exactOptional()
    .describe('The chain of the transaction; absent if the item names none.'),
  links: z
    .looseObject({
      transaction: z.url().exactOptional().describe("The transaction in its chain's explorer."),
      origin: z.url().exactOptional().describe('The account that sent it.'),
      contracts: z.array(z.url()).exactOptional().describe('The contracts that it touched.'),
    })
    .describe('Links that Tocsin adds; empty if the chain or the hash is unknown.'),
  replay: z.boolean().describe('True if an operator replays history.'),
  notice: z.string().exactOptional().describe('Why it comes in an unusual way, in a sentence.'),
  truncated: z
    .looseObject({ bytes: z.number().describe('Size of the whole item as JSON.') })
    .exactOptional()
    .describe('Present if the item was larger than 256 kB: long texts and lists in it are cut.'),
  partial: z
    .literal(true)
    .exactOptional()
    .describe('Present if the receiver refused the whole item (400, 413, 422): then it has only its short fields.'),
};

const inspection = z
  .looseObject({})
  .describe('The inspection exactly as the service gave it: _id, chainId, txHash, assets, assessment, detections ...');

const names = () => z.array(z.string());

const context = z
  .looseObject({
    trigger: z
      .looseObject({
        groups: z.number().describe('Trigger groups that the service lists for the assessment.'),
        matched: z
          .looseObject({ number: z.number().describe('From 1.'), detectors: names() })
          .exactOptional()
          .describe('The first group whose detectors all fired.'),
      })
      .exactOptional(),
    adminOf: names().exactOptional().describe("Touched assets that have the transaction's origin as an admin."),
    adminSince: dateTime()
      .exactOptional()
      .describe('Since when the origin is an admin of one of them, where that is since a day at most.'),
    privilegedOn: names().exactOptional().describe('Touched assets whose privileged method was invoked.'),
    first: z
      .looseObject({
        since: dateTime().describe('How far back Tocsin remembers.'),
        origin: z.boolean().exactOptional(),
        detectors: z.boolean().exactOptional(),
      })
      .exactOptional()
      .describe('Whether this is the first alert of the protocol with this origin, and with this set of detectors.'),
    listedSince: dateTime()
      .exactOptional()
      .describe('Since when the service lists the protocol, as far as Tocsin knows.'),
  })
  .describe('Context, found when the alert was queued. A missing field is unknown; an empty list means none.');

const message = <Type extends z.ZodType, Own extends z.ZodRawShape>(type: Type, own: Own, timestamp = dateTime()) =>
  z.looseObject({ type, timestamp, data: z.looseObject({ ...common, ...own }) });

const finding = message(
  z.enum(['inspection.critical', 'inspection.suspecious', 'inspection.ok', 'test.sample']),
  { inspection, context: context.exactOptional() },
  dateTime().describe('When the service wrote the item.'),
).describe('An inspection by its assessment, spelled as the service does; or a test that an operator sent.');

const followUp = message(z.enum(CHANGES.map((change) => `inspection.${change}` as const)), {
  inspection,
  followUp: z.looseObject({
    of: z.string().describe('The webhook-id that the first message of this inspection came under.'),
    was: z.string().describe('The assessment in the last message about it.'),
    is: z
      .string()
      .exactOptional()
      .describe('The assessment now; absent if the service no longer lists the inspection.'),
  }),
}).describe('A change of an inspection that this receiver got before.');

const notification = message(z.literal('notification.created'), {
  notification: z.looseObject({}).describe('The stored notification exactly as the service gave it.'),
}).describe('A notification that the service stored.');

const announcement = message(z.string().regex(/^tocsin\.[a-z.-]+$/), {
  announcement: z.looseObject({ message: z.string().describe('Plain text; its first line stands alone.') }),
}).describe('An announcement by Tocsin itself.');

const single = z
  .union([finding, followUp, notification, announcement])
  .meta({ id: 'message', description: 'One message.' });

const batch = z
  .looseObject({
    type: z.literal('batch'),
    timestamp: dateTime().describe('The latest of its items.'),
    data: z.looseObject({ items: z.array(single).min(2).describe('Each as it would be sent alone.') }),
  })
  .describe('Several messages in one; only where channels.webhook.batch asks for it.');

/** Everything that may be sent. Receivers should ignore keys and types that they do not know: there will be more. */
export const payloadSchema = z.union([single, batch]).meta({ title: 'Body of a webhook from Tocsin' });

/** JSON Schema, draft 2020-12. */
export const payloadJsonSchema = () =>
  z.toJSONSchema(payloadSchema, {
    override: ({ jsonSchema }) => {
      // The format says the same and is easier to read.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
