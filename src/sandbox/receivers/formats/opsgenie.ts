/**
 * Opsgenie's Alert API. Source: https://docs.opsgenie.com/docs/alert-api (fields, lengths, closing by alias) and
 * https://docs.opsgenie.com/docs/response (answers)
 */
import { isObject } from '../../json.ts';
import { list, map, object, objectIn, oneOf, type Rule, text } from './rules.ts';
import { createVendorReceiver, secondsIn, type Vendor, type VendorOptions, type VendorReceiver } from './vendor.ts';

interface OpsgenieReceiver extends VendorReceiver {
  /** Aliases of open alerts, with how often each was created. */
  openAliases(): Map<string, number>;
}

const RECIPIENTS = list(map(text()), { max: 50 });
const DETAILS_MAX = 8000;

const CREATE: Rule = object(
  { message: text({ max: 130 }) },
  {
    alias: text({ max: 512 }),
    description: text({ max: 15_000 }),
    responders: RECIPIENTS,
    visibleTo: RECIPIENTS,
    actions: list(text({ max: 50 }), { max: 10 }),
    tags: list(text({ max: 50 }), { max: 20 }),
    details: map(text({ min: 0 })),
    entity: text({ max: 512 }),
    source: text({ max: 100 }),
    priority: oneOf('P1', 'P2', 'P3', 'P4', 'P5'),
    user: text({ max: 100 }),
    note: text({ max: 25_000 }),
  },
);

const CLOSE: Rule = object({}, { user: text({ max: 100 }), source: text({ max: 100 }), note: text({ max: 25_000 }) });

const detailsSize = (details: unknown): number =>
  Object.entries(typeof details === 'object' && details !== null ? details : {}).reduce(
    (sum, [key, value]) => sum + key.length + String(value).length,
    0,
  );

const said = (message: string) => ({ message, took: 0.001, requestId: '43a29c5c-3dbf-4fa4-9c26-f4f71023e120' });

const CLOSES = /^\/v2\/alerts\/([^/]+)\/close$/;

export const createOpsgenieReceiver = (options: VendorOptions & { apiKey?: string } = {}): OpsgenieReceiver => {
  const { apiKey = 'sandbox-api-key' } = options;
  const open = new Map<string, number>();
  const accepted = {
    problems: [],
    answer: { status: 202, body: { ...said(''), result: 'Request will be processed' } },
  };

  const vendor: Vendor = {
    contentType: /^application\/json\b/i,
    admit: ({ path, headers }) => {
      if (path !== '/v2/alerts' && !CLOSES.test(path)) return { status: 404, body: said('Resource not found') };
      return headers.authorization === `GenieKey ${apiKey}`
        ? undefined
        : { status: 401, body: said('Could not authenticate') };
    },
    malformed: { status: 400, body: said('Request body is not processable. Please check the errors.') },
    limited: (waitMs) => ({
      status: 429,
      headers: { 'retry-after': secondsIn(waitMs) },
      body: said('You are making too many requests!'),
    }),
    judge: ({ path, query, body }) => {
      const alias = CLOSES.exec(path)?.[1];
      const problems = alias === undefined ? CREATE(body, 'alert') : CLOSE(body, 'close');
      if (isObject(body) && detailsSize(body.details) > DETAILS_MAX) problems.push('alert.details is too long');
      // Without it the path has an id of Opsgenie's own, which nobody was told.
      if (alias !== undefined && query !== 'identifierType=alias') problems.push('identifierType must be alias');
      if (problems.length > 0)
        return { problems, answer: { status: 422, body: { ...said('Unprocessable'), errors: problems.join('; ') } } };
      if (alias !== undefined) open.delete(decodeURIComponent(alias));
      else {
        const own = String(objectIn(body).alias);
        open.set(own, (open.get(own) ?? 0) + 1);
      }
      return accepted;
    },
  };

  const receiver = createVendorReceiver(vendor, options);
  return {
    ...receiver,
    openAliases: () => new Map(open),
    start: async () => {
      const { url, port } = await receiver.start();
      return { port, url: `${url}/v2/alerts` };
    },
  };
};
