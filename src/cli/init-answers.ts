/** What `tocsin init` asks for: the service, each kind of channel that its protocols use, and a fallback. */
import { CHANNEL_KINDS, type ChannelKind, type Destination, isHuman } from '../alert.ts';
import { closedIn, listedText, listOnce, sendSample, verifyKind } from '../app/online-check.ts';
import type { SetupQuestion } from '../channels/channel.ts';
import { addressesOf, kindFacts, placeOf } from '../channels/registry.ts';
import { serviceSection } from '../config/poll-section.ts';
import { didYouMean } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import { DeliveryError, UsageError } from '../errors.ts';
import { fallbackRoutes, routeEntries, routeSettings } from '../features/routes/routes.ts';
import type { ChannelEntry, ListedProtocol } from '../item.ts';
import { counted, listText } from '../text.ts';
import { configText, entryOf, type Plan, SERVICE_KEY } from './init-config.ts';
import {
  askWhether,
  missingFor,
  type Part,
  readConfig,
  type Setup,
  SKIP,
  settle,
  whileTrying,
} from './init-questions.ts';
import { kindOf } from './options.ts';

export interface Draft extends Plan {
  service: Record<string, string>;
  kinds: Map<ChannelKind, Record<string, string>>;
  fallback?: ChannelKind;
  allowed: string[];
}

const URL_QUESTION: SetupQuestion = {
  id: 'url',
  name: 'the URL of the monitoring service',
  text: 'Base URL of the monitoring service, like https://host/api',
  todo: 'It is the whole address of its API, often with a path like /api.',
  option: { name: 'service', flag: '--service URL' },
  rule: (answer) => {
    const [issue] = serviceSection.shape.baseUrl.safeParse(answer).error?.issues ?? [];
    const isBare = issue !== undefined && serviceSection.shape.baseUrl.safeParse(`https://${answer}`).success;
    return issue && `${issue.message}${isBare ? `; did you mean https://${answer}?` : ''}`;
  },
  blamedBy: /services\.0\.baseUrl/,
  isUntried: true,
};

const KEY_QUESTION: SetupQuestion = {
  id: 'key',
  name: 'the API key',
  text: 'Its API key (does not show)',
  todo: 'Whoever runs the monitoring service gives keys out. Copy it whole, without spaces.',
  variable: SERVICE_KEY,
  isHidden: true,
  blamedBy: /services\.0\.apiKey/,
};

/** Of the fallback. */
const addressQuestion = (kind: ChannelKind): SetupQuestion => ({
  ...kindFacts(kind).setup.address,
  id: 'to',
  option: { name: 'to', flag: '--to ADDRESS' },
  rule: (answer) => {
    const [problem] = addressesOf(kind, entryOf(kind, answer)).problems;
    return problem && `: ${problem}`;
  },
});

/** Throws a `UsageError` that names every option and variable that is missing, where nobody can be asked. */
export const demandAnswers = (setup: Setup): void => {
  const { options, context } = setup;
  if (context.ask !== undefined) return;
  const kind = options.channel === undefined ? undefined : kindOf(options.channel);
  const missing = [
    ...missingFor(setup, [URL_QUESTION, KEY_QUESTION]),
    ...(kind === undefined ? [`--channel ${CHANNEL_KINDS.join('|')}`] : []),
    ...(kind === undefined && options.to === undefined ? ['--to ADDRESS'] : []),
    ...(kind === undefined ? [] : missingFor(setup, [...kindFacts(kind).setup.questions, addressQuestion(kind)])),
  ];
  if (missing.length > 0) {
    throw new UsageError(`there is no terminal to ask on, so init needs ${missing.join(', ')}; tocsin init --help`);
  }
};

/** By kind, the protocols that have a channel of it, in the order of `CHANNEL_KINDS`. */
export type Uses = ReadonlyMap<ChannelKind, readonly ListedProtocol[]>;

const usesOf = (listed: readonly ListedProtocol[]): Uses =>
  new Map(
    CHANNEL_KINDS.map(
      (kind) => [kind, listed.filter(({ channels }) => channels.some(({ name }) => name === kind))] as const,
    ).filter(([, protocols]) => protocols.length > 0),
  );

export const askService = async (setup: Setup, draft: Draft): Promise<Uses> => {
  const { signal } = setup.context;
  let listed: ListedProtocol[] = [];
  await settle(setup, {
    questions: [URL_QUESTION, KEY_QUESTION],
    answers: draft.service,
    text: () => configText(draft),
    tryOut: async (config) => {
      listed = await whileTrying(setup, listOnce(config, signal));
      return `the monitoring service ${listedText(listed)}`;
    },
  });
  return usesOf(listed);
};

/** The URL of a provider's API that `--api-url` gives for a kind: `KIND=URL`, or one for all. */
const apiUrlFor = ({ options: { apiUrl = [] } }: Setup, kind: ChannelKind): string | undefined =>
  apiUrl.find((each) => each.startsWith(`${kind}=`))?.slice(kind.length + 1) ??
  apiUrl.find((each) => /^https?:/i.test(each));

const MOST_HOSTS = 20;

/** Lets the guard send to addresses that are no public ones, where the person wants it. False: some of them stay refused. */
const allowPrivate = async (
  setup: Setup,
  draft: Draft,
  config: Config,
  destinations: readonly Destination[],
  isAllowed = false,
): Promise<boolean> => {
  const { context } = setup;
  const closed = await closedIn(config, destinations, context.signal);
  if (closed.length === 0) return true;
  const hosts = [...new Set(closed.map(({ address }) => URL.parse(address)?.host ?? ''))];
  const { title } = kindFacts(closed[0]?.kind ?? 'webhook').setup;
  const question = `${title} to ${listText(hosts, MOST_HOSTS)}: no public https address; send them all the same?`;
  if (!isAllowed && (context.ask === undefined || !(await askWhether(setup, question, false)))) return false;
  draft.allowed.push(...closed.map(({ address }) => address));
  return true;
};

const entriesIn = ({ channels }: ListedProtocol, kind: ChannelKind): ChannelEntry[] =>
  channels.filter(({ name }) => name === kind);

/** Whether its alerts go by the token or mail server that all of the kind share. */
const needsSender = (protocol: ListedProtocol, kind: ChannelKind): boolean =>
  entriesIn(protocol, kind).some((entry) => addressesOf(kind, entry).addresses.some(kindFacts(kind).sharesSender));

/** Sets up a kind. False where it is left out, or where nobody can be asked for what it lacks. */
const askKind = async (
  setup: Setup,
  draft: Draft,
  { kind, questions, isOptional }: Pick<Part, 'questions' | 'isOptional'> & { kind: ChannelKind },
): Promise<boolean> => {
  const { title, made } = kindFacts(kind).setup;
  const { given, known } = setup.variables;
  const apiUrl = apiUrlFor(setup, kind);
  const answers: Record<string, string> = apiUrl === undefined ? {} : { apiUrl };
  if (made !== undefined) given[made.variable] ??= known[made.variable] || made.make();
  const part: Part = {
    questions,
    answers,
    text: () => configText({ ...draft, kinds: new Map([[kind, answers]]) }),
    tryOut: async (config) => `${title}: ${await whileTrying(setup, verifyKind(config, kind, setup.context.signal))}`,
    isOptional,
  };
  if (await settle(setup, part)) {
    draft.kinds.set(kind, answers);
    return true;
  }
  for (const { variable = '' } of questions) delete given[variable];
  return false;
};

/** Sets up a kind as these protocols use it, if it can be set up here. */
export const askUsed = async (
  setup: Setup,
  draft: Draft,
  [kind, protocols]: readonly [ChannelKind, readonly ListedProtocol[]],
): Promise<void> => {
  const { ask, warn } = setup.context;
  const { title, questions: all, isGuarded = false } = kindFacts(kind).setup;
  const entries = protocols.flatMap((one) => entriesIn(one, kind));
  const questions = protocols.some((one) => needsSender(one, kind)) ? all : [];
  const missing = ask === undefined ? missingFor(setup, questions) : [];
  const use = counted(protocols.length, 'protocol uses', 'protocols use');
  if (ask !== undefined && questions.length > 0) warn(`\n${title}: ${use} it. "${SKIP}" leaves it out.\n`);
  if (missing.length > 0 || !(await askKind(setup, draft, { kind, questions, isOptional: true }))) {
    const how = missing.length === 0 ? '' : `: give ${missing.join(', ')}`;
    warn(`note  ${title} is not set up, though ${use} it${how}\n`);
  } else if (isGuarded) {
    const config = readConfig(setup, configText(draft));
    await allowPrivate(setup, draft, config, routeEntries(entries, routeSettings(config)).destinations);
  }
};

/** The kind that fails least together with what protocols use, and why. */
const offerFallback = (uses: Uses, { kinds }: Draft): { kind: ChannelKind; why: string } => {
  const people = CHANNEL_KINDS.filter((kind) => isHuman({ kind }));
  const unused = people.find((kind) => !uses.has(kind));
  if (unused !== undefined) {
    const why =
      uses.size === 0
        ? 'No protocol has a channel yet, so every alert goes there.'
        : `No protocol uses ${unused}, so it does not fail together with the others.`;
    return { kind: unused, why };
  }
  const [least = 'email'] = people
    .filter((kind) => kinds.has(kind))
    .toSorted((a, b) => (uses.get(a)?.length ?? 0) - (uses.get(b)?.length ?? 0));
  const { hangsOn } = kindFacts(least).setup;
  return {
    kind: least,
    why: `Your protocols use every kind, so it shares a ${hangsOn?.replace(/^one /, '')} with some of them.`,
  };
};

const NONE = 'none';

const askFallbackKind = async (setup: Setup, draft: Draft, uses: Uses) => {
  const { kind, why } = offerFallback(uses, draft);
  const known = [...CHANNEL_KINDS, ...(draft.kinds.size === 0 ? [] : [NONE])];
  const answers: Record<string, string> = {};
  setup.context.warn(`\nThe fallback gets what nobody has accepted within 60s, and Tocsin's own troubles.\n${why}\n`);
  await settle(setup, {
    questions: [
      {
        id: 'kind',
        name: 'the kind of the fallback',
        text: `Kind of the fallback: ${known.join(', ')}`,
        todo: 'Enter takes the kind in brackets.',
        standard: kind,
        isUntried: true,
        rule: (answer) =>
          known.includes(answer.toLowerCase())
            ? undefined
            : `must be one of ${known.join(', ')} (got '${answer}')${didYouMean(answer, known)}`,
      },
    ],
    answers,
    text: () => configText(draft),
    tryOut: async () => undefined,
  });
  return CHANNEL_KINDS.find((one) => one === answers.kind?.toLowerCase());
};

/** Where it goes; a person may have a test message sent there. False where another kind is wanted. */
const askAddress = async (setup: Setup, draft: Draft, kind: ChannelKind): Promise<boolean> => {
  const { context, options } = setup;
  const { questions } = kindFacts(kind).setup;
  const address = addressQuestion(kind);
  const answers = draft.kinds.get(kind) ?? {};
  const text = (): string => configText({ ...draft, kinds: new Map([[kind, answers]]), fallback: kind });
  let isWanted: boolean | undefined;
  const tryOut = async (config: Config): Promise<string | undefined> => {
    const [destination] = fallbackRoutes(config, routeSettings(config)).destinations;
    if (destination === undefined) return verifyKind(config, kind, context.signal);
    if (!(await allowPrivate(setup, draft, config, [destination], options.allowPrivate))) {
      const is = 'is no public https address; --allow-private allows it';
      throw new DeliveryError('destination-dead', `${destination.label} ${is}`, { code: 'private' });
    }
    if (context.ask === undefined) return undefined;
    isWanted ??= await askWhether(setup, 'Send a test message there now?', true);
    if (!isWanted) return undefined;
    await whileTrying(setup, sendSample(readConfig(setup, text()), destination, context.signal));
    return `a test message was accepted for ${placeOf(destination)}`;
  };
  const isSettled = await settle(setup, {
    questions: [...questions, address],
    answers,
    text,
    tryOut,
    isOptional: options.channel === undefined,
  });
  if (!isSettled) {
    delete answers.to;
    delete setup.variables.given[address.variable ?? ''];
  }
  return isSettled;
};

/** Asks for the fallback's kind, for what that kind lacks, and for its address. */
export const askFallback = async (setup: Setup, draft: Draft, uses: Uses): Promise<void> => {
  const { channel } = setup.options;
  for (;;) {
    const kind = channel === undefined ? await askFallbackKind(setup, draft, uses) : kindOf(channel);
    if (kind === undefined) return;
    const { questions } = kindFacts(kind).setup;
    const isOptional = channel === undefined;
    const isSetUp = draft.kinds.has(kind) || (await askKind(setup, draft, { kind, questions, isOptional }));
    if (isSetUp && (await askAddress(setup, draft, kind))) {
      draft.fallback = kind;
      return;
    }
  }
};
