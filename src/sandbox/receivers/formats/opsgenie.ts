/**
 * Opsgenie's Alert API, with the alerts that come of it. Source: https://docs.opsgenie.com/docs/alert-api (fields, lengths,
 * what an alias does, actions by alias) and https://docs.opsgenie.com/docs/response (answers)
 */
import { isObject, type JsonObject } from '../../json.ts';
import { list, map, object, objectIn, oneOf, type Rule, text } from './rules.ts';
import { createVendorReceiver, secondsIn, type Vendor, type VendorOptions, type VendorReceiver } from './vendor.ts';

interface OpsgenieAlert {
  alias: string;
  state: 'open' | 'acknowledged' | 'closed';
  message: string;
  priority: string;
  /** How often it was created while it was open. */
  count: number;
  notes: string[];
}

interface OpsgenieReceiver extends VendorReceiver {
  /** All of them, the oldest first. */
  alerts(): OpsgenieAlert[];
  /** Aliases of open alerts, with how often each was created. */
  openAliases(): Map<string, number>;
  /** As a person closes it there. */
  close(alias: string): void;
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

const SAID = { user: text({ max: 100 }), source: text({ max: 100 }) };
const NOTE = text({ max: 25_000 });

/** What may be done with an alert, by the method and the end of the path. */
const ACTIONS: Readonly<Record<string, Rule>> = {
  'POST close': object({}, { ...SAID, note: NOTE }),
  'POST acknowledge': object({}, { ...SAID, note: NOTE }),
  'POST notes': object({ note: NOTE }, SAID),
  'PUT message': object({ message: text({ max: 130 }) }),
  'PUT priority': object({ priority: oneOf('P1', 'P2', 'P3', 'P4', 'P5') }),
};

const detailsSize = (details: unknown): number =>
  Object.entries(typeof details === 'object' && details !== null ? details : {}).reduce(
    (sum, [key, value]) => sum + key.length + String(value).length,
    0,
  );

const said = (message: string) => ({ message, took: 0.001, requestId: '43a29c5c-3dbf-4fa4-9c26-f4f71023e120' });

const ACTION = /^\/v2\/alerts\/([^/]+)\/([a-z]+)$/;

/** What becomes of alerts by requests that were taken, in their order. */
const createAlerts = () => {
  const all: OpsgenieAlert[] = [];
  const openOf = (alias: string) => all.find((one) => one.alias === alias && one.state !== 'closed');

  const create = ({ alias, message, priority = 'P3' }: JsonObject): void => {
    const open = openOf(String(alias));
    if (open) open.count += 1;
    else
      all.push({
        ...{ alias: String(alias), state: 'open', message: String(message), priority: String(priority) },
        ...{ count: 1, notes: [] },
      });
  };

  /** Where none is open the request fails later, and nobody hears of it. */
  const act = (alias: string, action: string, { message, priority, note }: JsonObject): void => {
    const open = openOf(alias);
    if (open === undefined) return;
    if (action === 'close') open.state = 'closed';
    if (action === 'acknowledge') open.state = 'acknowledged';
    if (message !== undefined) open.message = String(message);
    if (priority !== undefined) open.priority = String(priority);
    if (note !== undefined) open.notes.push(String(note));
  };

  return { list: () => all.map((one) => ({ ...one, notes: [...one.notes] })), create, act };
};

export const createOpsgenieReceiver = (options: VendorOptions & { apiKey?: string } = {}): OpsgenieReceiver => {
  const { apiKey = 'sandbox-api-key' } = options;
  const alerts = createAlerts();
  const accepted = {
    problems: [],
    answer: { status: 202, body: { ...said(''), result: 'Request will be processed' } },
  };
  const ruleOf = (method: string, path: string): Rule | undefined => {
    if (path === '/v2/alerts') return method === 'POST' ? CREATE : undefined;
    return ACTIONS[`${method} ${ACTION.exec(path)?.[2]}`];
  };

  const vendor: Vendor = {
    contentType: /^application\/json\b/i,
    methods: ['POST', 'PUT'],
    admit: ({ method, path, headers }) => {
      if (ruleOf(method, path) === undefined) return { status: 404, body: said('Resource not found') };
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
    judge: ({ method, path, query, body }) => {
      const [, alias, action = ''] = ACTION.exec(path) ?? [];
      const problems = ruleOf(method, path)?.(body, action || 'alert') ?? [];
      if (isObject(body) && detailsSize(body.details) > DETAILS_MAX) problems.push('alert.details is too long');
      // Without it the path has an id of Opsgenie's own, which nobody was told.
      if (alias !== undefined && query !== 'identifierType=alias') problems.push('identifierType must be alias');
      if (problems.length > 0)
        return { problems, answer: { status: 422, body: { ...said('Unprocessable'), errors: problems.join('; ') } } };
      if (alias === undefined) alerts.create(objectIn(body));
      else alerts.act(decodeURIComponent(alias), action, objectIn(body));
      return accepted;
    },
  };

  const receiver = createVendorReceiver(vendor, options);
  return {
    ...receiver,
    alerts: alerts.list,
    openAliases: () =>
      new Map(
        alerts
          .list()
          .flatMap(({ alias, state, count }): [string, number][] => (state === 'closed' ? [] : [[alias, count]])),
      ),
    close: (alias) => alerts.act(alias, 'close', {}),
    start: async () => {
      const { url, port } = await receiver.start();
      return { port, url: `${url}/v2/alerts` };
    },
  };
};
