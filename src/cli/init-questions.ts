/** The questions of `tocsin init`, one after the other: each answer is tried at once, and a wrong one is asked for again alone. */
import { CHANNEL_KINDS } from '../alert.ts';
import type { SetupQuestion } from '../channels/channel.ts';
import { kindFacts } from '../channels/registry.ts';
import { parseConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { Environment } from '../config/variables.ts';
import { ConfigError, DeliveryError, messageOf, ServiceError, UsageError } from '../errors.ts';
import type { CommandContext, CommonOptions } from './context.ts';
import { createProgress } from './terminal.ts';

export interface InitOptions extends CommonOptions {
  service?: string;
  channel?: string;
  to?: string;
  from?: string;
  smtp?: string;
  smtpUser?: string;
  smtpTls?: string;
  apiUrl?: string[];
  allowPrivate?: boolean;
  /** False with `--no-check`. */
  check: boolean;
  force?: boolean;
}

export interface Setup {
  options: InitOptions;
  context: CommandContext;
  /** As they are set, and those that are given now. */
  variables: { known: Environment; given: Record<string, string> };
}

/** Answers that are tried together. */
export interface Part {
  questions: readonly SetupQuestion[];
  /** By the ids of the questions; answers are written into it. */
  answers: Record<string, string>;
  /** The config as far as it is answered. */
  text(): string;
  /** Asks whoever the answers are about; gives a sentence, or nothing where there was nobody to ask. Rejects with what is wrong. */
  tryOut(config: Config): Promise<string | undefined>;
  /** It may be left out by the word `skip`. */
  isOptional?: boolean | undefined;
}

export const STOPPED = 'stopped: nothing was written';
export const SKIP = 'skip';

/** To one question. Nobody types more wrong answers; a program might. */
const MOST_TRIES = 10;

/** What is known without asking: an option, or a variable. */
const givenFor = ({ options, variables: { given, known } }: Setup, question: SetupQuestion) => {
  const { option, variable = '' } = question;
  return (option && options[option.name]) ?? (given[variable] || known[variable] || undefined);
};

/** Where an answer comes from that nobody typed. */
const sourceOf = ({ option, variable }: SetupQuestion): string =>
  [option?.flag, variable === undefined ? undefined : `the variable ${variable}`].filter(Boolean).join(' or ');

const isDue = ({ isDue: rule }: SetupQuestion, answers: Part['answers']): boolean => rule?.(answers) !== false;

/** Options and variables without which nobody can go on where nobody can be asked. */
export const missingFor = (setup: Setup, questions: readonly SetupQuestion[]): string[] => {
  const answers: Record<string, string> = {};
  return questions.flatMap((question) => {
    const answer = givenFor(setup, question) ?? question.standard;
    if (answer !== undefined) answers[question.id] = answer;
    const isNeeded = question.onlyWhenBlamed !== true && isDue(question, answers);
    return answer === undefined && isNeeded ? [sourceOf(question)] : [];
  });
};

/** An answer that belongs to another question, which people paste by mistake. */
const misplaced = ({ like, isHidden }: SetupQuestion, answer: string): string | undefined => {
  if (like === undefined || like.test(answer)) return undefined;
  const all = CHANNEL_KINDS.flatMap((kind) => [...kindFacts(kind).setup.questions, kindFacts(kind).setup.address]);
  const other = all.find((one) => one.like?.test(answer));
  if (other === undefined) return undefined;
  const isSeen = other.isHidden === true && isHidden !== true ? '; clear this screen if others see it' : '';
  return `: what was given looks like ${other.name.replace(/^the /, 'a ')}${isSeen}`;
};

interface Fault {
  blamed: readonly [SetupQuestion, ...SetupQuestion[]];
  /** Goes on from the name of the first of them. */
  text: string;
}

/** Keys of the config say nothing to somebody who has not seen it: a clause about them goes, a word of them becomes the question's. */
const inOwnWords = (text: string, questions: readonly SetupQuestion[]): string =>
  questions.reduce(
    (done, { blamedBy, name }) => (blamedBy === undefined ? done : done.replace(blamedBy, name)),
    text.replace(/[:;] [^:;]*channels\..*?(\)?)$/s, '$1'),
  );

/** What is wrong with an answer: that of the questions that the failure blames, else the last one. Rethrows anything else. */
const faultOf = ({ questions }: Part, last: SetupQuestion, error: unknown): Fault => {
  const blame = (words: string): Fault['blamed'] | undefined => {
    const [first, ...others] = questions.filter(({ blamedBy }) => blamedBy?.test(words));
    return first && [first, ...others];
  };
  if (error instanceof ConfigError) {
    const { path, rule } = error.problems[0] ?? { path: '', rule: '' };
    const blamed = blame(path);
    // Such as of a proxy in the environment, or of `--api-url`.
    if (blamed === undefined) throw error;
    return { blamed, text: rule };
  }
  const message = messageOf(error);
  if (error instanceof ServiceError) {
    const isKey = error.reason === 'unauthorized';
    const said = message.replace(/^main: /, '');
    const text = isKey ? `: the monitoring service does not take it (${said})` : `: ${said}`;
    return { blamed: blame(isKey ? 'services.0.apiKey' : 'services.0.baseUrl') ?? [last], text };
  }
  if (!(error instanceof DeliveryError)) throw error;
  const blamed = blame(`${message} ${error.explanation?.todo}`) ?? [last];
  return { blamed, text: `: ${inOwnWords(message, questions)}` };
};

/** As the daemon would read it, with the variables that are given. */
export const readConfig = ({ options, variables: { known, given } }: Setup, text: string): Config =>
  parseConfig(text, options.config, { ...known, ...given });

/** Says that it takes a while, where a terminal shows it. */
export const whileTrying = <T>({ context }: Setup, work: Promise<T>): Promise<T> => {
  const progress = createProgress(context);
  progress.show('Trying it ...');
  return work.finally(progress.end);
};

/** What is wrong with the answers so far; undefined where nothing is found. */
const findFault = async (setup: Setup, part: Part, question: SetupQuestion): Promise<Fault | undefined> => {
  const { options, context } = setup;
  for (const each of part.questions) {
    const answer = part.answers[each.id];
    const wrong = answer === undefined ? undefined : (misplaced(each, answer) ?? each.rule?.(answer));
    if (wrong === undefined) continue;
    // It may be a secret that was pasted here: it is not offered again.
    delete part.answers[each.id];
    return { blamed: [each], text: wrong };
  }
  if (question.isUntried === true) return undefined;
  try {
    const config = readConfig(setup, part.text());
    if (!options.check) return undefined;
    const found = await part.tryOut(config);
    if (found !== undefined) context.warn(`ok    ${found}\n`);
    return undefined;
  } catch (error) {
    if (context.signal.aborted) throw new UsageError(STOPPED);
    return faultOf(part, question, error);
  }
};

const keep = ({ variables: { given } }: Setup, { answers }: Part, { id, variable }: SetupQuestion, answer: string) => {
  answers[id] = answer;
  if (variable !== undefined && answer !== '') given[variable] = answer;
};

const tooOften = ({ name }: Pick<SetupQuestion, 'name'>): UsageError =>
  new UsageError(`${name} was asked for ${MOST_TRIES} times, and no answer can be used: nothing was written`);

/** What stands for an empty answer, as the question shows it. */
const offerOf = ({ isHidden, standard }: SetupQuestion, before: string | undefined): string => {
  if (before !== undefined && isHidden === true) return ' [the same again]';
  const offered = before ?? standard;
  return offered === undefined ? '' : ` [${offered || 'none'}]`;
};

/** Asks until there is an answer, and keeps it. False where the part is left out. */
const put = async (setup: Setup, part: Part, question: SetupQuestion): Promise<boolean> => {
  const { ask, askSecret, warn } = setup.context;
  const before = part.answers[question.id];
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const given = await (question.isHidden === true ? askSecret : ask)?.(
      `${question.text}${offerOf(question, before)}: `,
    );
    if (given === undefined) throw new UsageError(STOPPED);
    const answer = given.trim() || (before ?? question.standard);
    if (part.isOptional === true && answer === SKIP) return false;
    if (answer !== undefined) {
      keep(setup, part, question, answer);
      return true;
    }
    warn(`An answer is needed. ${question.todo} Ctrl-C ends this.\n`);
  }
  throw tooOften(question);
};

const tell = ({ context: { ask, warn } }: Setup, { blamed: [first], text }: Fault): void => {
  const source = ask === undefined ? ` (${sourceOf(first)})` : '';
  warn(`FAIL  ${first.name}${source}${text.startsWith(':') ? '' : ' '}${text}\n      ${first.todo}\n`);
};

/** Where nobody can be asked for another answer. */
const giveUp = ({ blamed: [first] }: Fault): UsageError =>
  new UsageError(
    `${first.name} failed; nothing was written. Mend it by ${sourceOf(first)}, or give --no-check to write the config without asking`,
  );

const answerFirst = async (setup: Setup, part: Part, question: SetupQuestion): Promise<boolean> => {
  const { option, variable } = question;
  const given = givenFor(setup, question) ?? (setup.context.ask === undefined ? question.standard : undefined);
  if (given === undefined) return put(setup, part, question);
  if (variable !== undefined && !(option && setup.options[option.name]))
    setup.context.warn(`${variable} is set already; using it.\n`);
  keep(setup, part, question, given.trim());
  return true;
};

/** Asks for one answer until it works. False where the person leaves the part out. */
const settleOne = async (setup: Setup, part: Part, question: SetupQuestion): Promise<boolean> => {
  if (!(await answerFirst(setup, part, question))) return false;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const fault = await findFault(setup, part, question);
    if (fault === undefined) return true;
    tell(setup, fault);
    if (setup.context.ask === undefined) throw giveUp(fault);
    for (const blamed of fault.blamed) {
      if (isDue(blamed, part.answers) && !(await put(setup, part, blamed))) return false;
    }
  }
  throw tooOften(question);
};

/** Asks for the part's answers until they work. False where the person leaves the part out. */
export const settle = async (setup: Setup, part: Part): Promise<boolean> => {
  for (const question of part.questions) {
    const isAsked = question.onlyWhenBlamed !== true || givenFor(setup, question) !== undefined;
    if (part.answers[question.id] !== undefined || !isAsked || !isDue(question, part.answers)) continue;
    if (!(await settleOne(setup, part, question))) return false;
  }
  return true;
};

/** True for yes; without an answer `standard`. A key that is typed here is no no. */
export const askWhether = async ({ context: { ask, warn } }: Setup, question: string, standard: boolean) => {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const answer = await ask?.(`${question} [${standard ? 'Y/n' : 'y/N'}] `);
    if (answer === undefined) throw new UsageError(STOPPED);
    if (answer.trim() === '') return standard;
    if (/^(y(es)?|no?)$/i.test(answer.trim())) return /^y/i.test(answer.trim());
    warn('Type y or n.\n');
  }
  throw tooOften({ name: 'y or n' });
};
