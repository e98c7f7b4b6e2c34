/**
 * Templates of the config: Liquid over the content of a message. What a template makes is plain text, which each kind
 * escapes as it does any other; the details and the links stay below it, so that nothing is lost.
 * Source: https://liquidjs.com/tutorials/options.html
 */
import type { Liquid, Template } from 'liquidjs';
import { type Alert, type ChannelKind, isAnnouncement } from '../../alert.ts';
import { createGlobs } from '../../globs.ts';
import { cleanLine, cleanText, quotedLines, shorten } from '../../text.ts';
import { type Content, type Line, lineText } from './content.ts';
import { createTemplateEngine, engineProblem } from './template-engine.ts';

/** As the config has it. */
export interface TemplateSource {
  kinds: readonly ChannelKind[];
  /** Globs on the protocol's name, and on the type of the alert. */
  protocols: readonly string[];
  types: readonly string[];
  title?: string;
  text?: string;
}

const TITLE_LIMIT = 140;
const TEXT_LIMIT = 2000;
/** Of a value that stands in one line; what a template makes has no room for more. */
const VALUE_LIMIT = 300;
const MESSAGE_LIMIT = 3000;
const LIST_LIMIT = 20;
const CUT = ' [shortened]';

let shared: Liquid | undefined;

/** Loaded when the first template is. */
const engine = (): Liquid => {
  shared ??= createTemplateEngine();
  return shared;
};

const compiled = (source: string | undefined): Template[] | undefined =>
  source === undefined ? undefined : engine().parse(source);

/** Why a template cannot be read, in words; undefined where it can. */
export const templateProblem = (source: string): string | undefined => {
  try {
    compiled(source);
    return undefined;
  } catch (error) {
    return engineProblem(error);
  }
};

const short = (text: string): string => shorten(text, VALUE_LIMIT);

const shortAll = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, short(value)]));

/** A reader sees that something is missing; at most `limit` characters with the mark. */
const marked = (text: string, limit: number): string =>
  text.length <= limit ? text : `${shorten(text, limit - CUT.length)}${CUT}`;

const detailsIn = ({ details }: Content, label: string): string[] =>
  details.flatMap((fact) => (fact.label === label ? [short(fact.value)] : [])).slice(0, LIST_LIMIT);

const detailIn = (content: Content, label: string): string => detailsIn(content, label)[0] ?? '';

/** From outside several lines are quoted: none of them can pass for a line of the template's, or for one of ours. */
const messageIn = ({ message = '', isOurs }: Content): string => {
  const text = marked(message, MESSAGE_LIMIT);
  return isOurs || text === '' ? text : marked(quotedLines(text), MESSAGE_LIMIT);
};

/** What a template may name, of bounded size; docs/templates.md lists these. All but `message` and `notice` have one line. */
const templateFields = (content: Content, alert: Pick<Alert, 'type' | 'service'>) => {
  const [type, service] = [cleanLine(alert.type), cleanLine(alert.service)];
  const { severity, sign, word, prefix = '', protocol, contract = '', where, title, happened, headline } = content;
  return {
    ...shortAll({ type, service, severity, sign, word, prefix, protocol, contract, where, title, happened, headline }),
    notice: short(content.notice ?? ''),
    message: messageIn(content),
    detectors: content.detections
      .slice(0, LIST_LIMIT)
      .map(({ id, name, message }) => shortAll({ id, name, message: cleanLine(message) })),
    transaction: detailIn(content, 'Transaction'),
    chain: detailIn(content, 'Chain'),
    origin: detailIn(content, 'Sender'),
    method: detailIn(content, 'Method'),
    contracts: detailsIn(content, 'Contract'),
    id: detailIn(content, 'Inspection') || detailIn(content, 'Notification'),
    lines: content.lines.slice(0, LIST_LIMIT).map((line) => short(lineText(line))),
    times: short(lineText(content.times)),
    links: content.links.map(({ label, url }) => ({ label, url })),
  };
};

const EMPTY: Content = {
  ...{ severity: '', tone: 'news', sign: '', word: '', protocol: '', where: '', title: '', happened: '', said: '' },
  ...{ headline: '', isOurs: true, gist: [], detections: [], lines: [], times: [], links: [], details: [] },
};

/** What a template names, in any of its branches, that no message has. */
export const unknownFields = (source: string): string[] => {
  const fields = Object.keys(templateFields(EMPTY, { type: '', service: '' }));
  return engine()
    .globalVariablesSync(source)
    .filter((name) => !fields.includes(name));
};

export interface Templates {
  /** The content as the first template that is for it words it; the content itself where none is, or where it fails. */
  apply(content: Content, alert: Pick<Alert, 'type' | 'service' | 'protocol'>): Content;
}

const linesOf = (text: string): Line[] => {
  const cut = text.length <= TEXT_LIMIT ? text : `${shorten(text, TEXT_LIMIT)}${CUT}`;
  return cut.split('\n').map((line) => [{ text: line }]);
};

/** The words of a template in the place of ours. */
const worded = (content: Content, title: string | undefined, text: string | undefined): Content => {
  const named: Content =
    title === undefined ? content : { ...content, title, isTitled: true, headline: `${title}: ${content.said}` };
  if (text === undefined) return named;
  const { message: _message, messageLines: _messageLines, ...others } = named;
  return { ...others, gist: [], detections: [], lines: linesOf(text), times: [] };
};

/**
 * The templates of the config for one kind, in their order: the first that fits an alert words it. Throws where Liquid cannot
 * read one, which the config's check has found before. A template that fails for an alert changes nothing of it.
 */
export const createTemplates = (
  sources: readonly TemplateSource[],
  {
    kind,
    onFailed,
    ofAnnouncements = false,
  }: {
    kind: ChannelKind;
    /** A template could not be rendered, and why; `index` is its place in the config, from 0. */
    onFailed(index: number, why: string): void;
    /** Of these, too. Default: not, as the failure may be announced, which would fail again. */
    ofAnnouncements?: boolean;
  },
): Templates => {
  const templates = sources.map(({ kinds, protocols, types, title, text }, index) => {
    const isProtocol = createGlobs(protocols);
    const isType = createGlobs(types);
    const isFor = (alert: Pick<Alert, 'protocol' | 'type'>): boolean =>
      kinds.includes(kind) && isProtocol(alert.protocol) && isType(alert.type);
    return { index, isFor, title: compiled(title), text: compiled(text) };
  });
  const rendered = (template: Template[] | undefined, fields: object): string | undefined => {
    if (template === undefined) return undefined;
    const text = cleanText(String(engine().renderSync(template, fields)));
    if (text === '') throw new Error('it makes an empty text');
    return text;
  };
  return {
    apply: (content, alert) => {
      const template = templates.find(({ isFor }) => isFor(alert));
      if (template === undefined) return content;
      try {
        const fields = templateFields(content, alert);
        const title = rendered(template.title, {
          ...fields,
          message: marked(cleanLine(content.message ?? ''), MESSAGE_LIMIT),
        });
        const text = rendered(template.text, fields);
        return worded(content, title === undefined ? undefined : shorten(cleanLine(title), TITLE_LIMIT), text);
      } catch (error) {
        if (ofAnnouncements || !isAnnouncement(alert)) onFailed(template.index, engineProblem(error));
        return content;
      }
    },
  };
};

/** Words everything as we do. */
export const NO_TEMPLATES: Templates = { apply: (content) => content };
