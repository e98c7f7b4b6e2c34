/**
 * A workflow of Teams that posts what its webhook gets. Source:
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using (the message, 28 kB),
 * https://adaptivecards.io/explorer/ (elements and their properties; version 1.4, in which nothing else is allowed) and
 * https://learn.microsoft.com/microsoftteams/platform/task-modules-and-cards/cards/cards-reference (actions, `msteams`)
 */
import { isObject, type JsonValue } from '../../json.ts';
import { flag, list, object, objectIn, oneOf, type Rule, text, webUrl } from './rules.ts';
import { createVendorReceiver, secondsIn, type Vendor, type VendorOptions, type VendorReceiver } from './vendor.ts';

const SPACING = oneOf('None', 'Small', 'Default', 'Medium', 'Large', 'ExtraLarge', 'Padding');
const ANY = { id: text(), isVisible: flag, spacing: SPACING, separator: flag };

const OPEN_URL = object({ type: oneOf('Action.OpenUrl'), url: webUrl }, { title: text(), id: text(), tooltip: text() });
const TOGGLE = object(
  { type: oneOf('Action.ToggleVisibility'), targetElements: list(text(), { min: 1 }) },
  { title: text(), id: text() },
);

/** By its `type`. */
const byType =
  (rules: Readonly<Record<string, () => Rule>>): Rule =>
  (value, at) => {
    const type = isObject(value) ? String(value.type) : '';
    const rule = Object.hasOwn(rules, type) ? rules[type]?.() : undefined;
    return rule === undefined ? [`${at} is of an unknown type`] : rule(value, at);
  };

const COLORS = oneOf('Default', 'Dark', 'Light', 'Accent', 'Good', 'Warning', 'Attention');
const SIZES = oneOf('Default', 'Small', 'Medium', 'Large', 'ExtraLarge');
const LOOK = { color: COLORS, size: SIZES, weight: oneOf('Default', 'Lighter', 'Bolder'), isSubtle: flag };
const FONT = oneOf('Default', 'Monospace');

const TEXT_RUN = object(
  { type: oneOf('TextRun'), text: text() },
  {
    ...LOOK,
    fontType: FONT,
    highlight: flag,
    italic: flag,
    strikethrough: flag,
    underline: flag,
    selectAction: OPEN_URL,
  },
);

const ELEMENT: Rule = byType({
  TextBlock: () =>
    object(
      { type: oneOf('TextBlock'), text: text() },
      { ...ANY, ...LOOK, wrap: flag, fontType: FONT, style: oneOf('heading') },
    ),
  RichTextBlock: () => object({ type: oneOf('RichTextBlock'), inlines: list(TEXT_RUN, { min: 1 }) }, ANY),
  Container: () =>
    object(
      { type: oneOf('Container'), items: list(ELEMENT, { min: 1 }) },
      { ...ANY, bleed: flag, style: oneOf('default', 'emphasis', 'good', 'attention', 'warning', 'accent') },
    ),
});

const CARD = object(
  { type: oneOf('AdaptiveCard'), version: oneOf('1.2', '1.3', '1.4', '1.5'), body: list(ELEMENT, { min: 1 }) },
  {
    $schema: webUrl,
    fallbackText: text(),
    msteams: object({}, { width: oneOf('Full') }),
    actions: list(byType({ 'Action.OpenUrl': () => OPEN_URL, 'Action.ToggleVisibility': () => TOGGLE }), { max: 6 }),
  },
);

const nothing: Rule = (value, at) => (value === null ? [] : [`${at} must be null`]);

const MESSAGE = object({
  type: oneOf('message'),
  attachments: list(
    object({ contentType: oneOf('application/vnd.microsoft.card.adaptive'), content: CARD }, { contentUrl: nothing }),
    { min: 1, max: 1 },
  ),
});

const idsIn = (value: JsonValue): string[] => {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (!isObject(value)) return [];
  return [...(typeof value.id === 'string' ? [value.id] : []), ...Object.values(value).flatMap(idsIn)];
};

const targetsIn = (value: JsonValue): string[] => {
  if (Array.isArray(value)) return value.flatMap(targetsIn);
  if (!isObject(value)) return [];
  const own = Array.isArray(value.targetElements) ? value.targetElements.map(String) : [];
  return [...own, ...Object.values(value).flatMap(targetsIn)];
};

const together = (body: JsonValue): string[] => {
  const ids = idsIn(body);
  return [
    ...(new Set(ids).size === ids.length ? [] : ['ids must be unique']),
    ...targetsIn(body)
      .filter((target) => !ids.includes(target))
      .map((target) => `there is no element ${target}`),
  ];
};

const LARGEST_BYTES = 28 * 1024;
/** What Teams adds before it counts: 24,453 bytes were 28,897 (MicrosoftDocs/msteams-docs#11274). */
const GROWTH = 28_897 / 24_453;

const PATH = '/workflows/6a1f7d40c2b04c7d9a7e3b1c5d2f8e90/triggers/manual/paths/invoke';
const QUERY = 'api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=sandbox-signature';

const failure = (code: string, message: string) => ({ error: { code, message } });

const vendor: Vendor = {
  contentType: /^application\/json\b/i,
  admit: ({ path, query }) => {
    if (path !== PATH) return { status: 404, body: failure('WorkflowNotFound', 'The workflow could not be found.') };
    return new URLSearchParams(query).get('sig') === 'sandbox-signature'
      ? undefined
      : { status: 401, body: failure('DirectApiAuthorizationRequired', 'The request must be authenticated.') };
  },
  malformed: { status: 400, body: failure('InvalidRequestContent', 'The request content is not valid JSON.') },
  limited: (waitMs) => ({
    status: 429,
    headers: { 'retry-after': secondsIn(waitMs) },
    body: failure('TooManyRequests', ''),
  }),
  judge: ({ body }, bytes) => {
    const problems = [...MESSAGE(body, 'message'), ...together(objectIn(body))];
    if (bytes * GROWTH > LARGEST_BYTES) problems.push(`MessageSizeExceeded: ${bytes} bytes`);
    return {
      problems,
      answer:
        problems.length === 0 ? { status: 202 } : { status: 400, body: failure('BadRequest', problems.join('; ')) },
    };
  },
};

/** `url` is that of a workflow. */
export const createTeamsReceiver = (options: VendorOptions = {}): VendorReceiver => {
  const receiver = createVendorReceiver(vendor, options);
  return {
    ...receiver,
    start: async () => {
      const { url, port } = await receiver.start();
      return { port, url: `${url}${PATH}?${QUERY}` };
    },
  };
};
